import { writeFileSync } from 'node:fs'
import { writeAccepted } from '../../../../app/backtest/accepted-keys.ts'
import type { Backtest } from '../../../../app/backtest/backtest.ts'
import type { Output } from '../../../terminal/output.ts'
import { type AboutBacktest, explainSigns, writeReport } from './backtest-view.ts'
import { judgeBacktest } from './judge-backtest.ts'
import { writeHtml } from './write-html.ts'
import { writeMarkdown } from './write-markdown.ts'

interface Files {
  markdown?: string | undefined
  html?: string | undefined
}

interface Report {
  about: AboutBacktest
  /** Of accepted differences. */
  file: string
  asked: Files & { accept?: boolean | undefined }
  rule: Omit<Parameters<typeof judgeBacktest>[1], 'accepted'>
}

/** Writes the reports that were asked for, accepts, and leaves with the verdict. */
export function reportDifferences(out: Output, found: Backtest, { about, file, asked, rule }: Report): void {
  writeReports(found, about, asked)
  const { accept = false } = asked
  if (accept && !out.given.dryRun) {
    out.note(`${writeAccepted(file, found.groups).length} differences are accepted in ${file}.`)
  }
  const accepted = accept ? new Set(found.groups.map(({ key }) => key)) : about.accepted
  const { exit, notes } = judgeBacktest(found, { ...rule, accepted })
  if (found.groups.length > 0 && !accept) out.note(explainSigns(about.against === 'recorded' ? 'run' : 'other code'))
  for (const note of notes) out.note(note)
  if (exit !== null) out.leaveWith(exit)
}

/** The files that were asked for. */
export function writeReports(found: Backtest, about: AboutBacktest, { markdown, html }: Files): void {
  const report = writeReport(found, about)
  if (markdown !== undefined) writeFileSync(markdown, writeMarkdown(report))
  if (html !== undefined) writeFileSync(html, writeHtml(report))
}
