import type { Command } from '@commander-js/extra-typings'
import { acceptedFile, readAccepted } from '../../../../app/backtest/accepted-keys.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { formatBacktest } from '../../safety/backtest/backtest-view.ts'
import { parseShare, REQUIRE } from '../../safety/backtest/judge-backtest.ts'
import { reportDifferences } from '../../safety/backtest/report-differences.ts'
import { describeBook, describeNothing, differencesOf, readShadow } from './read-shadow.ts'

/** `upshot workflows shadow <id>`: the differences of its shadow from runs since it was added. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the workflow')
    .option('--require <share>', REQUIRE, parseShare, 1)
    .option('--accept', 'keep these differences in workflows/backtest/<id>.json, and fail on others only')
    .option('--markdown <file>', 'also write a report in Markdown')
    .option('--html <file>', 'also write a report as one page without script')
    .action((workflow, { require, accept, markdown, html }) =>
      project.withReads(async (store, { workflowsDir }) => {
        const now = commandClock.now()
        const shadow = await readShadow(store, workflowsDir, workflow)
        const { module, book } = shadow
        const found = differencesOf(book)
        const kept = acceptedFile(workflowsDir, workflow)
        const accepted = readAccepted(kept)
        const lines = [describeBook(shadow, now)]
        const about = { workflow, candidate: module.code, against: 'recorded', accepted, lines }
        const { since = null, followed = null, missed = 0 } = book ?? {}
        const { guard: _, ...differences } = found
        const facts = {
          workflow,
          file: module.file,
          candidate: module.code,
          since: isoOf(since),
          followed: isoOf(followed),
        }
        out.result({ ...facts, ...differences, missed, accepted: [...accepted] }, () =>
          found.runs === 0 ? lines : formatBacktest(found, about, out),
        )
        const nothing = describeNothing(shadow)
        if (nothing !== null) {
          out.note(nothing)
          return out.leaveWith('notFound')
        }
        const rule = { failOn: 'any', required: require, isThrottled: false, unknown: null } as const
        reportDifferences(out, found, { about, file: kept, asked: { accept, markdown, html }, rule })
        out.note(`To put it in the place of the present module: upshot workflows promote ${workflow}`)
      }),
    )
}

function isoOf(moment: number | null): string | null {
  return moment === null ? null : new Date(moment).toISOString()
}
