import type { Command } from '@commander-js/extra-typings'
import { FAILURE_ROUTES } from '../../../admin/contract/resources/failures.ts'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { call } from '../../open/operations.ts'
import { noteSearched, readList } from '../../operate/read-list.ts'
import { addSchemaOptions, readSchemaOptions } from '../../operate/schema-options.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import { type Column, formatTable } from '../../terminal/table.ts'

type Group = AnswerOf<'GET /failures'>['items'][number]

const { query: QUERY } = FAILURE_ROUTES['GET /failures']
const NAMES = { without: ['q', 'after'] }
/** Runs for a person that are counted; more are told as "or more". */
const MAX_COUNTED = 500

/** `upshot runs summary`: failed runs by kind, and the number of runs that wait for a person. */
export function define(command: Command, { out, project }: Cli): void {
  addSchemaOptions(command, QUERY, NAMES).action((options) =>
    project.withOperations(
      async (operations) => {
        // All of history, where no time is named.
        const query = { since: '1970-01-01T00:00:00Z', ...readSchemaOptions(QUERY, options, NAMES) }
        const page = await readList(operations, 'GET /failures', { input: { query }, limit: Number.POSITIVE_INFINITY })
        const { items, ...about } = page
        const groups = mergeStretches(items)
        const forPerson = { needsPerson: 'true', limit: MAX_COUNTED } as const
        const waiting = (await call(operations, 'GET /runs', { query: forPerson })).items.length
        const lines = () => formatTable(groups, columns(commandClock.now()), out)
        out.result(groups, lines, { waitingForPerson: waiting, ...about })
        noteSearched(out, page, { limit: Number.POSITIVE_INFINITY, what: 'failed runs' })
        out.note(groups.length === 0 ? 'No run has failed.' : NEXT)
        if (waiting > 0) out.note(describeWaiting(waiting))
      },
      { isList: true },
    ),
  )
}

/** One row for each kind: every page tells of its own stretch of history, the newest first. */
function mergeStretches(items: readonly Group[]): Group[] {
  const merged = new Map<string, Group>()
  for (const item of items) {
    const newer = merged.get(item.id)
    const { runs, resolved, firstAt } = item
    const both = newer && { ...newer, runs: newer.runs + runs, resolved: newer.resolved + resolved, firstAt }
    merged.set(item.id, both ?? item)
  }
  return [...merged.values()]
}

const NEXT =
  'For the runs of a group: "upshot runs list --group <id>". To retry them: "upshot runs retry --group <id>".'

function describeWaiting(count: number): string {
  const runs = count === 1 ? '1 run waits' : `${count}${count < MAX_COUNTED ? '' : ' or more'} runs wait`
  return `${runs} for a person: upshot runs list --waiting-for-me`
}

function columns(now: number): Column<Group>[] {
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
