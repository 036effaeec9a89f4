import { formatText } from '../../../terminal/format-value.ts'
import { listSamples, type Report, type ReportRow } from './backtest-view.ts'

/** A backtest as Markdown, for a comment on a pull request. */
export function writeMarkdown({ title, rows, findings }: Report): string {
  return [
    `### Backtest of ${title}`,
    '',
    '| runs | difference |',
    '|---:|---|',
    ...rows.map((row) => `| ${row.count} | ${describe(row)} |`),
    '',
    ...findings.map((line) => `- ${protect(line)}`),
    ...rows.filter(({ kind }) => kind === 'group').flatMap(describeSamples),
    '',
  ].join('\n')
}

/** Foreign text is code: nothing in it is Markdown or HTML. */
function describe({ kind, texts, remark }: ReportRow): string {
  const isForeign = kind === 'group' || kind === 'unknown'
  return `${texts.map((text) => (isForeign ? `<code>${protect(text)}</code>` : protect(text))).join('<br>')}${remark}`
}

function describeSamples(row: ReportRow): string[] {
  return [
    '',
    `<details><summary>${protect(formatText(row.texts.join('; '), 200))}</summary>`,
    '',
    ...listSamples(row).map(({ command, event }) => `- \`${command}\`${event === null ? '' : ` (${event})`}`),
    '',
    '</details>',
  ]
}

/** Foreign text without signs that HTML, or a table of Markdown, gives a meaning. */
function protect(text: string): string {
  return text.replace(/[&<>|`]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
