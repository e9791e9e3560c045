import type { Payload } from "./events.ts";

interface WebhookExamples {
  readonly name: string;
  readonly examples: readonly object[];
}

/** The payload examples of GitHub's webhooks, in the package's order. Parsed when they are asked for: it takes about 30 ms. */
export async function readWebhookExamples(): Promise<Payload[]> {
  const examples = await import("@octokit/webhooks-examples", { with: { type: "json" } });
  const webhooks = examples.default as unknown as readonly WebhookExamples[];
  return webhooks.flatMap((webhook) =>
    webhook.examples.map((example) => ({ type: webhook.name, data: Buffer.from(JSON.stringify(example)) })),
  );
}
