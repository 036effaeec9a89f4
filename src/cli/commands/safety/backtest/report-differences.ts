import { writeFileSync } from 'node:fs'
import { writeAccepted } from '../../../../app/backtest/accepted-keys.ts'
import type { Backtest } from '../../../../app/backtest/backtest.ts'
import type { Output } from '../../../terminal/output.ts'
import { type AboutBacktest, describeBacktest, explainSigns } from './backtest-view.ts'
import { judgeBacktest } from './judge-backtest.ts'
import { writeMarkdown } from './write-markdown.ts'

interface Report {
  about: AboutBacktest
  /** Of accepted differences. */
  file: string
  asked: { accept?: boolean | undefined; markdown?: string | undefined }
  rule: Omit<Parameters<typeof judgeBacktest>[1], 'accepted'>
}

/** Writes the reports that were asked for, accepts, and leaves with the verdict. */
export function reportDifferences(out: Output, found: Backtest, { about, file, asked, rule }: Report): void {
  writeReport(found, about, asked.markdown)
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

/** The file that was asked for. */
export function writeReport(found: Backtest, about: AboutBacktest, file: string | undefined): void {
  if (file !== undefined) writeFileSync(file, writeMarkdown(describeBacktest(found, about)))
}
