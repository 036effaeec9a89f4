import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The texts of a page, but for what people write: a character that turns what stands beside it. */
const TURNED = `[...document.querySelectorAll('body *')]
  .flatMap((element) => [
    ...[...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE).map(({ data }) => data),
    ...['title', 'aria-label', 'placeholder'].map((name) => element.getAttribute(name) ?? ''),
  ])
  .filter((text) => /\\p{Bidi_Control}/u.test(text))`

/**
 * Faults of accessibility (WCAG 2.2 A and AA), a page that scrolls sideways, and texts that turn
 * their direction. `part` is a selector; axe looks below it alone.
 */
export async function inspectNow(page: Page, place: string, part = 'html'): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(AXE)
  const turned = await page.evaluate<string[]>(TURNED)
  const faults = await page.evaluate(
    async ([where, below]) => {
      const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
      const { axe } = globalThis as never as {
        axe: {
          run(below: string, options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>
        }
      }
      const { violations } = await axe.run(below, { runOnly: tags })
      const { scrollWidth, clientWidth } = (
        globalThis as never as { document: { documentElement: Record<string, number> } }
      ).document.documentElement
      const wide = (scrollWidth ?? 0) > (clientWidth ?? 0)
      const faults = violations.map(({ id, nodes }) => `${where}: ${id} at ${nodes[0]?.html.slice(0, 200)}`)
      return wide ? [...faults, `${where}: scrolls sideways`] : faults
    },
    [place, part] as const,
  )
  return [...faults, ...turned.map((text) => `${place}: ${JSON.stringify(text.slice(0, 100))} turns its direction`)]
}
