import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'
import { routeOf } from './pages.ts'

export const ROOT = resolve(import.meta.dirname, '..')

const LINK = /\]\((?!https?:|mailto:|#|\/)([^)#\s]+)/g
const IMAGE = /\.(png|svg)$/

/** Files of the repository that pages link to, and that are no pages: each gets a page of its own. */
export function linkedSources(pages: string): string[] {
  const linked = globSync(pages, { cwd: ROOT }).flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(LINK)].map(([, path = '']) =>
      relative(ROOT, resolve(ROOT, dirname(page), path)),
    ),
  )
  return [...new Set(linked)].filter((path) => isFile(path) && !/\.md$/.test(path) && !IMAGE.test(path)).sort()
}

/**
 * Makes each link of a page, which is right in the repository and on GitHub, right on the site. A
 * link that leads nowhere ends the build.
 */
export function siteLinks(md: MarkdownRenderer): void {
  md.core.ruler.push('site-links', ({ env, tokens }) => {
    const page = relative(ROOT, env.realPath ?? env.path)
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.attrGet('href')
      if (token.type === 'link_open' && href !== null) token.attrSet('href', siteAddress(page, href))
    }
  })
}

function siteAddress(page: string, href: string): string {
  if (/^([a-z]+:|#|\/)/.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const target = relative(ROOT, resolve(ROOT, dirname(page), path))
  if (!existsSync(join(ROOT, target))) throw new Error(`${page} links to ${href}, and there is no ${target}`)
  const place = isFile(target) ? target : `${target}/README.md`
  const address = place.endsWith('.md') ? routeOf(place) : `source/${place}.md`
  return anchor === undefined ? `/${address}` : `/${address}#${anchor}`
}

function isFile(path: string): boolean {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile() === true
}
