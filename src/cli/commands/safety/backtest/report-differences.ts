import { writeFileSync } from 'node:fs'
import { writeAccepted } from '../../../../app/backtest/accepted-keys.ts'
import type { Backtest } from '../../../../app/backtest/backtest.ts'
import type { Output } from '../../../terminal/output.ts'
import { type AboutBacktest, explainSigns } from './backtest-view.ts'
import { judgeBacktest } from './judge-backtest.ts'
import { writeHtml } from './write-html.ts'
import { writeMarkdown } from './write-markdown.ts'

interface Asked {
  accept: boolean | undefined
  markdown: string | undefined
  html: string | undefined
}

/**
 * Writes the reports that were asked for, accepts, and leaves with the verdict. `file`: of accepted
 * differences.
 */
export function reportDifferences(
  out: Output,
  found: Backtest,
  {
    about,
    file,
    asked: { accept, markdown, html },
    rule,
  }: { about: AboutBacktest; file: string; asked: Asked; rule: Omit<Parameters<typeof judgeBacktest>[1], 'accepted'> },
): void {
  if (markdown !== undefined) writeFileSync(markdown, writeMarkdown(found, about))
  if (html !== undefined) writeFileSync(html, writeHtml(found, about))
  if (accept && !out.given.dryRun) {
    out.note(`${writeAccepted(file, found.groups).length} differences are accepted in ${file}.`)
  }
  const accepted = accept ? new Set(found.groups.map(({ key }) => key)) : about.accepted
  const { exit, notes } = judgeBacktest(found, { ...rule, accepted })
  if (found.groups.length > 0 && !accept) out.note(explainSigns(about.against === 'recorded' ? 'run' : 'other code'))
  for (const note of notes) out.note(note)
  if (exit !== null) out.leaveWith(exit)
}
