import { createRequire } from "node:module";
import type { Payload } from "./payload.ts";

interface WebhookExamples {
  readonly name: string;
  readonly examples: readonly object[];
}

/** The payload examples of GitHub's webhooks, in the package's order. Parsed when they are asked for: it takes about 30 ms. */
export function readWebhookExamples(): Payload[] {
  // `require`, because Node 20 warns about each `import` of JSON.
  const webhooks = createRequire(import.meta.url)("@octokit/webhooks-examples") as readonly WebhookExamples[];
  return webhooks.flatMap((webhook) =>
    webhook.examples.map((example) => ({ type: webhook.name, data: Buffer.from(JSON.stringify(example)) })),
  );
}
