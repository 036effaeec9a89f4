/** A page of the site: its file, as a path from the root of the repository, and its short name. */
export type Entry = readonly [file: string, name: string]

/** The sidebar: what people want, and the pages for it in the order in which one reads them. */
export const SECTIONS: Record<string, readonly Entry[]> = {
  Start: [
    ['docs/tutorial.md', 'Tutorial'],
    ['docs/concepts.md', 'Concepts'],
    ['docs/promises.md', 'Promises'],
  ],
  Write: [
    ['docs/workflows.md', 'Workflows'],
    ['docs/cron.md', 'Cron workflows'],
    ['docs/semantics.md', 'What a run repeats'],
    ['docs/testing.md', 'Tests'],
  ],
  Connect: [
    ['docs/endpoints.md', 'Endpoints'],
    ['docs/signatures.md', 'Signatures'],
    ['docs/hooks.md', 'Callbacks'],
    ['docs/files.md', 'Files API'],
    ['docs/sandbox.md', 'Sandbox'],
  ],
  Run: [
    ['docs/operating.md', 'Operating'],
    ['docs/deploying.md', 'Deploying'],
    ['docs/scaling.md', 'Scaling'],
    ['docs/how-fast.md', 'How fast, and why'],
    ['docs/versions.md', 'Versions and upgrades'],
    ['docs/dashboard.md', 'Dashboard'],
    ['docs/troubleshooting.md', 'Troubleshooting'],
  ],
  Trust: [
    ['docs/safety.md', 'Safe automation'],
    ['docs/privacy.md', 'Privacy'],
    ['docs/backtest.md', 'Foresee what code does'],
    ['docs/coverage.md', 'Nothing missed'],
  ],
  Reference: [
    ['docs/commands.md', 'Commands'],
    ['docs/configuration.md', 'Configuration'],
    ['docs/api/README.md', 'API'],
    ['docs/api/upshot.md', 'upshot'],
    ['docs/api/upshot/files.md', 'upshot/files'],
    ['docs/api/upshot/sandbox.md', 'upshot/sandbox'],
    ['docs/api/upshot/testing.md', 'upshot/testing'],
    ['docs/admin-api.md', 'Admin API'],
    ['docs/operations.md', 'Operations'],
    ['docs/agents.md', 'Agents'],
    ['docs/glossary.md', 'Glossary'],
    ['SECURITY.md', 'Security policy'],
    ['SUPPORT.md', 'Support'],
    ['CHANGELOG.md', 'Changes'],
  ],
  Recipes: [['docs/recipes.md', 'All recipes']],
  Decisions: [
    ['ARCHITECTURE.md', 'Architecture'],
    ['CONTRIBUTING.md', 'Contributing'],
    ['docs/libraries.md', 'Libraries'],
    ['bench/README.md', 'Benchmarks'],
    ['docs/decisions/README.md', 'All decisions'],
  ],
}

/** The address of a page on the site, from its file: guides are at the top. */
export function routeOf(file: string): string {
  return file
    .replace(/^(docs|site)\//, '')
    .replace(/(^|\/)README\.md$/, '$1index.md')
    .replace(/^(ARCHITECTURE|CONTRIBUTING|CHANGELOG|SECURITY|SUPPORT)\.md$/, (name) => name.toLowerCase())
}

/** The anchor of a heading, as GitHub makes it. */
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** Pages that the site has beside those of the sidebar: one a decision, one an example. */
export const PAGES =
  '{ARCHITECTURE,CONTRIBUTING,CHANGELOG,SECURITY,SUPPORT,bench/README,docs/**/*,examples/*/README}.md'
