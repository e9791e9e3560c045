import { createRequire } from "node:module";
import type { Payload } from "./payload.ts";

interface WebhookExamples {
  readonly name: string;
  readonly examples: readonly Example[];
}

interface Example {
  readonly action?: unknown;
  readonly repository?: { readonly full_name?: unknown };
  readonly organization?: { readonly login?: unknown };
  readonly installation?: { readonly account?: { readonly login?: unknown } };
}

/** The payload examples of GitHub's webhooks, in the package's order. Parsed when they are asked for: it takes about 30 ms. */
export function readWebhookExamples(): Payload[] {
  // `require`, because Node 20 warns about each `import` of JSON.
  const webhooks = createRequire(import.meta.url)("@octokit/webhooks-examples") as readonly WebhookExamples[];
  return webhooks.flatMap(({ name, examples }) =>
    examples.map((example) => ({
      stream: streamOf(name, example),
      type: typeof example.action === "string" ? `${name}.${example.action}` : name,
      data: Buffer.from(JSON.stringify(example)),
    })),
  );
}

/** The repository; what belongs to none is its organization's, its installation's, or its kind's. */
function streamOf(name: string, { repository, organization, installation }: Example): string {
  const owners = [repository?.full_name, organization?.login, installation?.account?.login];
  return owners.find((owner) => typeof owner === "string") ?? name;
}
