import type { Command } from '@commander-js/extra-typings'
import { type FailureGroup, mergeFailureGroups } from '../../../core/runs/failures/failure-group.ts'
import type { Cli } from '../../command.ts'
import { parseSince } from '../../input/parse-option.ts'
import { commandClock } from '../../open/command-clock.ts'
import { describeSearched, noteSearched, readPage } from '../../open/read-page.ts'
import { formatMoment, withIsoTimes } from '../../terminal/format-value.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { toFilter } from './select-runs.ts'

/** Runs for a person that are counted; more are told as "or more". */
const MAX_COUNTED = 1_000

/** `upshot runs summary`: failed runs by kind, and the number of runs that wait for a person. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--workflow <id>', 'only runs of the workflow with this id')
    .option('--error <text>', 'only runs whose error contains this text')
    .option('--step <name>', 'only runs whose step with this name or key failed')
    .option(
      '--since <when>',
      'only runs created since then: a duration before now, such as 1h, or an ISO 8601 time',
      parseSince,
    )
    .option('--until <when>', 'only runs created before then, in the same forms', parseSince)
    .action((choice) =>
      project.withLists(async (store) => {
        const filter = toFilter(choice)
        const limit = Number.MAX_SAFE_INTEGER
        const page = await readPage((slice) => store.groupFailures(filter, slice), limit)
        const groups = mergeFailureGroups(page.items)
        const waiting = (await store.listRuns({ waitsForPerson: true, limit: MAX_COUNTED })).length
        const about = { waitingForPerson: waiting, ...describeSearched(page) }
        out.result(
          groups.map(({ id, ...group }) => ({ group: id, ...withIsoTimes(group) })),
          () => formatTable(groups, columns(commandClock.now()), out),
          about,
        )
        noteSearched(out, page, { limit, what: 'failed runs' })
        if (groups.length === 0) out.note('No run has failed.')
        else out.note(NEXT)
        if (waiting > 0) out.note(describeWaiting(waiting))
      }),
    )
}

const NEXT =
  'For the runs of a group: "upshot runs list --group <id>". To retry them: "upshot runs retry --group <id>".'

function describeWaiting(count: number): string {
  const runs = count === 1 ? '1 run waits' : `${count}${count < MAX_COUNTED ? '' : ' or more'} runs wait`
  return `${runs} for a person: upshot runs list --waiting-for-me`
}

function columns(now: number): Column<FailureGroup>[] {
  return [
    { title: 'GROUP', value: ({ id }) => id, cut: 'never' },
    { title: 'RUNS', value: ({ runs }) => runs, align: 'right' },
    { title: 'FIRST', value: ({ firstAt }) => formatMoment(firstAt, now), cut: 'never' },
    { title: 'LAST', value: ({ lastAt }) => formatMoment(lastAt, now), cut: 'never' },
    { title: 'WORKFLOW', value: ({ workflow }) => workflow },
    { title: 'STEP', value: ({ step }) => step },
    { title: 'ERROR', value: ({ name, message }) => `${name}: ${message}`, most: 200 },
  ]
}
