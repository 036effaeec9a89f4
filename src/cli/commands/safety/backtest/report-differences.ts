import { writeFileSync } from 'node:fs'
import { writeAccepted } from '../../../../app/backtest/accepted-keys.ts'
import type { Backtest } from '../../../../app/backtest/backtest.ts'
import { formatText } from '../../../terminal/format-value.ts'
import type { Output } from '../../../terminal/output.ts'
import {
  type AboutBacktest,
  describeBacktest,
  explainSigns,
  listSamples,
  type Report,
  type ReportRow,
} from './backtest-view.ts'
import { judgeBacktest } from './judge-backtest.ts'

interface Reporting {
  about: AboutBacktest
  /** Of accepted differences. */
  file: string
  accept: boolean
  rule: Omit<Parameters<typeof judgeBacktest>[1], 'accepted'>
}

/** Accepts, where that was asked for, and leaves with the verdict. */
export function reportDifferences(out: Output, found: Backtest, { about, file, accept, rule }: Reporting): void {
  if (accept && !out.given.dryRun) {
    out.note(`${writeAccepted(file, found.groups).length} differences are accepted in ${file}.`)
  }
  const accepted = accept ? new Set(found.groups.map(({ key }) => key)) : about.accepted
  const { exit, notes } = judgeBacktest(found, { ...rule, accepted })
  if (found.groups.length > 0 && !accept) out.note(explainSigns(about.against === 'recorded' ? 'run' : 'other code'))
  for (const note of notes) out.note(note)
  if (exit !== null) out.leaveWith(exit)
}

/** Comes before the result: a file that cannot be written is the one thing that is told. */
export function writeReport(found: Backtest, about: AboutBacktest, file: string | undefined): void {
  if (file !== undefined) writeFileSync(file, writeMarkdown(describeBacktest(found, about)))
}

/** A backtest as Markdown, for a comment on a pull request. */
function writeMarkdown({ title, rows, findings }: Report): string {
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
