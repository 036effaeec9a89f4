import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type Plugin } from 'vitepress'
import { ROOT, siteLinks } from '../links.ts'
import { writeLlms } from '../llms.ts'
import { type Entry, PAGES, routeOf, SECTIONS, slug } from '../pages.ts'

const examples = globSync('examples/*/README.md', { cwd: ROOT }).sort().map(byHeading)
const decisions = globSync('docs/decisions/[0-9]*.md', { cwd: ROOT }).sort().map(byHeading)
const sections = { ...SECTIONS, Recipes: [...(SECTIONS.Recipes ?? []), ...examples] }

function byHeading(file: string): Entry {
  return [file, /^# (.+)$/m.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1] ?? file]
}

const listed = ([text, entries]: readonly [string, readonly Entry[]]) => ({
  text,
  items: entries.map(([file, name]) => ({ text: name, link: link(file) })),
})

const link = (file: string) => `/${routeOf(file).replace(/(index)?\.md$/, '')}`

/** Most pages lie outside this folder. Their libraries are looked for as if they lay in it. */
const findLibraries: Plugin = {
  name: 'find-libraries',
  enforce: 'pre',
  // VitePress names libraries to prepare, and Vite looks for them from the root of the repository.
  configResolved: ({ optimizeDeps }) => {
    optimizeDeps.include = []
  },
  resolveId(id, importer, { ssr }) {
    if (!/^vue(\/|$)/.test(id)) return null
    if (ssr) return { id, external: true }
    if (!importer?.endsWith('.md')) return null
    return this.resolve(id, join(import.meta.dirname, 'config.ts'), { skipSelf: true })
  },
}

export default defineConfig({
  title: 'Upshot',
  description: JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).description,
  base: (process.env.DOCS_BASE ?? '/') as `/${string}/`,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: '..',
  // All of the repository is below the sources, and only these are pages.
  srcExclude: [`!(${['site', ...PAGES.slice(1, -4).split(',')].map((page) => page.split('/')[0]).join('|')})*/**`],
  rewrites: routeOf,
  metaChunk: true,
  markdown: {
    // Our pages are plain Markdown: `<run>` is a placeholder, not an element.
    html: false,
    anchor: { slugify: slug },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languageAlias: { env: 'ini', caddy: 'nginx', cron: 'sh', orders: 'sh' },
    config: (md) => {
      md.use(siteLinks)
      const { text } = md.renderer.rules
      md.renderer.rules.text = (...args) => (text?.(...args) ?? '').replaceAll('{{', '&#123;&#123;')
      // A wide table scrolls by itself, so it is reached by the keyboard.
      md.renderer.rules.table_open = () => '<table tabindex="0">'
    },
  },
  outDir: 'dist',
  vite: { plugins: [findLibraries], build: { chunkSizeWarningLimit: 4_000 } },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          // A name such as `reconcile.<name>.every` or `--min-share` is found by each of its words.
          options: { tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u) },
          searchOptions: { combineWith: 'AND', boost: { title: 4, titles: 2 } },
        },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Recipes', link: '/recipes' },
      { text: 'Reference', link: '/commands' },
    ],
    sidebar: {
      '/': Object.entries(SECTIONS).map(listed),
      '/decisions/': [listed(['Decisions', [['docs/decisions/README.md', 'By subject'], ...decisions]])],
    },
  },
  buildEnd: ({ outDir }) =>
    writeLlms(outDir, { ...sections, Decisions: [...(SECTIONS.Decisions ?? []), ...decisions] }),
})
