import type { Command } from '@commander-js/extra-typings'
import { z } from 'zod'
import { EVENT_ROUTES } from '../../../admin/contract/resources/events.ts'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { refuse } from '../../../core/errors.ts'
import type { Cli } from '../../command.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { call, type Operations, requireLocal } from '../../open/operations.ts'
import { performOperation } from '../../operate/perform-operation.ts'
import { addSchemaOptions, readSchemaOptions } from '../../operate/schema-options.ts'
import { confirm } from '../../terminal/confirm.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { readIds } from '../runs/select-runs.ts'

/** Named events that are replayed side by side. */
const SLICE = 20

const { shape } = EVENT_ROUTES['GET /events'].query
const FILTER = z.object(shape)
const NAMES = { without: ['q', 'account', 'limit', 'after'] }

interface Replayed {
  event: string
  workflow: string
  run: string
}

export function define(command: Command, { out, project }: Cli): void {
  addSchemaOptions(command, FILTER, NAMES)
    .argument('[ids...]', 'ids of the events, or their beginnings with …; or - to read ids from standard input')
    .option('--workflow <id>', 'only this workflow (default: all that run on the type of the event)')
    .option('--account <name>', 'account of the events')
    .option('--per-second <count>', 'the most selected events per second (default: 100)', countUpTo(10_000))
    .option('--plan <file>', 'let the run do what this plan of the event lists, and ask for all else')
    .option('--as <name>', 'approve the plan as this registered approver')
    .option('--key-file <file>', 'sign the approval of the plan with the private key in this file')
    .action((named, { plan, as, keyFile, workflow, account, perSecond = null, ...options }) =>
      project.withOperations(async (operations) => {
        const [event, another] = named
        if (plan !== undefined) {
          if (event === undefined || event === '-' || another !== undefined) {
            const fix = 'For example: upshot events replay evt_1 --plan plan.json'
            throw refuse('A plan is for one event. Name that event, and no other.', fix)
          }
          const { store, config } = requireLocal(operations)
          const { replayPlan } = await import('../safety/plan/replay-plan.ts')
          return replayPlan({ out, project }, store, { config, event, workflow, account, plan, as, keyFile })
        }
        const choice = readSchemaOptions(FILTER, options, NAMES)
        const isSelected = Object.keys(choice).length > 0
        if (named.length > 0 === isSelected) {
          throw refuse('Give either ids of events or options that select them.', EXAMPLE)
        }
        const workflows = workflow === undefined ? undefined : [workflow]
        if (!isSelected) {
          return replayNamed(out, operations, { ids: await readIds(named, 'events'), body: { account, workflows } })
        }
        // New runs of all selected events, as a tracked operation, oldest first.
        return performOperation(out, operations, {
          name: 'POST /events/replay',
          body: { filter: { ...choice, account }, perSecond, workflows },
          things: 'Events',
          done: 'replayed',
          describe: ({ total, runs }) => describeWill(total, runs),
        })
      }),
    )
}

async function replayNamed(
  out: Cli['out'],
  operations: Operations,
  { ids, body }: { ids: readonly string[]; body: object },
): Promise<void> {
  // Where one does not fit, none is replayed.
  const plans = await replayAll(operations, ids, { ...body, isDryRun: true })
  if (out.given.dryRun) {
    const runs = plans.reduce((sum, { workflows }) => sum + workflows.length, 0)
    const will = describeWill(plans.length, runs)
    await confirm(out, { will, things: plans.map(({ event, workflows }) => `${event}  ${workflows.join(', ')}`) })
    return out.result({ dryRun: true, events: plans.length, runs }, () => [`This would ${will}.`])
  }
  const answers = await replayAll(operations, ids, body)
  const replayed = answers.flatMap(({ event, runs }) => runs.map(({ id, workflow }) => ({ event, workflow, run: id })))
  out.result({ dryRun: false, events: answers.length, runs: replayed }, () => formatTable(replayed, COLUMNS, out))
}

async function replayAll(operations: Operations, ids: readonly string[], body: object) {
  const signal = onInterrupt()
  const answers: AnswerOf<'POST /events/:id/replay'>[] = []
  for (let from = 0; from < ids.length; from += SLICE) {
    signal.throwIfAborted()
    const slice = ids.slice(from, from + SLICE)
    answers.push(
      ...(await Promise.all(slice.map((id) => call(operations, 'POST /events/:id/replay', { params: { id }, body })))),
    )
  }
  return answers
}

function describeWill(events: number, runs: number): string {
  const what = `${events} ${events === 1 ? 'event' : 'events'}`
  return `replay ${what} as ${runs} new ${runs === 1 ? 'run' : 'runs'}`
}

const EXAMPLE = 'For example: "upshot events replay evt_1", or "upshot events replay --type file.created --since 1h".'

const COLUMNS: Column<Replayed>[] = [
  { title: 'EVENT', value: ({ event }) => event, most: 60 },
  { title: 'WORKFLOW', value: ({ workflow }) => workflow },
  { title: 'RUN', value: ({ run }) => run, isId: true },
]
