import { escapeText, listSamples, type Report, type ReportRow } from './backtest-view.ts'

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
:root { color-scheme: light dark }
table { border-collapse: collapse; width: 100% }
td { border-top: 1px solid #8884; padding: .5rem; vertical-align: top }
td:first-child { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
code { display: block; white-space: pre-wrap; overflow-wrap: anywhere }
.minus { color: #b45309 } .plus { color: #dc2626 } .quiet { opacity: .7 }`

/** A backtest as a page: one file without script, which asks nobody for anything. */
export function writeHtml({ title, lines, rows, findings }: Report): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeText(title)}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>${STYLE}</style></head><body>
<h1>${escapeText(title)}</h1>
${lines.map((line) => `<p>${escapeText(line)}</p>`).join('\n')}
<table>
${rows.map((row) => `<tr><td>${row.count}</td><td>${describe(row)}</td></tr>`).join('\n')}
</table>
${findings.map((line) => `<p>${escapeText(line)}</p>`).join('\n')}
</body></html>
`
}

function describe(row: ReportRow): string {
  const { kind, texts, remark } = row
  if (kind !== 'group') return texts.map((text) => escapeText(text)).join('<br>')
  const lines = texts.map(
    (text) => `<code class="${text.startsWith('+') ? 'plus' : 'minus'}">${escapeText(text)}</code>`,
  )
  const named = listSamples(row).map(({ command, event }) => {
    return `<code>${escapeText(command)}${event === null ? '' : `   # ${escapeText(event)}`}</code>`
  })
  const more = `<details><summary>${named.length} samples</summary>${named.join('')}</details>`
  return `${lines.join('')}<span class="quiet">${remark}</span>${more}`
}
