import type { Backtest } from '../../../../app/backtest/backtest.ts'
import { formatBytes, formatText } from '../../../terminal/format-value.ts'
import {
  type AboutBacktest,
  commandOf,
  describeSides,
  formatNumber,
  listFindings,
  listUncompared,
} from './backtest-view.ts'

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
:root { color-scheme: light dark }
table { border-collapse: collapse; width: 100% }
td { border-top: 1px solid #8884; padding: .5rem; vertical-align: top }
td:first-child { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
code { display: block; white-space: pre-wrap; overflow-wrap: anywhere }
.minus { color: #b45309 } .plus { color: #dc2626 } .quiet { opacity: .7 }`

const SAMPLES = 10

/** A backtest as a page: one file without script, which asks nobody for anything. */
export function writeHtml(found: Backtest, about: AboutBacktest): string {
  const title = escapeText(describeSides(found, about))
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>${STYLE}</style></head><body>
<h1>${title}</h1>
${about.lines.map((line) => `<p>${escapeText(line)}</p>`).join('\n')}
<table>
${row(found.same, 'same')}
${found.groups.map((group) => row(group.count, describe(group, about))).join('\n')}
${found.cannotSay.map(({ count, question }) => row(count, `cannot say<code>${escapeText(question)}</code>`)).join('\n')}
${listUncompared(found)
  .map(([count, what]) => row(count, escapeText(what)))
  .join('\n')}
</table>
${listFindings(found)
  .map((line) => `<p>${escapeText(line)}</p>`)
  .join('\n')}
</body></html>
`
}

function row(count: number, html: string): string {
  return `<tr><td>${formatNumber(count)}</td><td>${html}</td></tr>`
}

function describe({ key, bytes, changes, samples }: Backtest['groups'][number], { accepted }: AboutBacktest): string {
  const lines = changes.map(({ sign, text }) => {
    return `<code class="${sign === '+' ? 'plus' : 'minus'}">${escapeText(text)}</code>`
  })
  const size = bytes === 0 ? '' : `<span class="quiet">${formatBytes(bytes)}</span>`
  const named = samples.slice(0, SAMPLES).map((each) => {
    const { event } = each
    return `<code>${escapeText(commandOf(each))}${event === null ? '' : `   # ${escapeText(event)}`}</code>`
  })
  const more = `<details><summary>${named.length} samples</summary>${named.join('')}</details>`
  return `${lines.join('') || 'other differences'}${size}${accepted.has(key) ? ' accepted' : ''}${more}`
}

function escapeText(text: string): string {
  const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return formatText(text, 1_000).replace(/[&<>"]/g, (sign) => signs[sign] ?? sign)
}
