import { join } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../../admin/client/index.ts'
import { openIsolated } from '../../../../app/preview/isolated-process.ts'
import { refuse } from '../../../../core/errors.ts'
import { compareOutlines, outlineOf } from '../../../../core/service/shapes/outline.ts'
import { emptyShape, foldBody, type Shape } from '../../../../core/service/shapes/shape.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import { describeUnknown, listDefinitions, type UsedDefinition } from '../../../../project/workflows/definitions.ts'
import type { Cli } from '../../../command.ts'
import { parseSince } from '../../../input/parse-option.ts'
import { call, type Operations } from '../../../open/operations.ts'
import { formatMoment } from '../../../terminal/format-value.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'
import { NO_STORE } from '../../safety/open-code.ts'
import { readShapes, SHAPES_FILE } from './shapes-file.ts'
import { readSince, readSpellings, readTraffic } from './traffic.ts'

/** How a definition and the events of a type get on. */
interface Fit {
  type: string
  workflows: string[]
  events: number
  misfits: number
  /** Of the newest event that does not fit. */
  first: { event: string; at: string; fault: string } | null
}

/** The changes of a type since its shape was written. */
interface Drift {
  type: string
  changes: string[]
}

const COLUMNS: Column<Fit>[] = [
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'WORKFLOWS', value: ({ workflows }) => (workflows.length === 0 ? '–' : workflows.join(', ')), most: 40 },
  { title: 'EVENTS', value: ({ events }) => events.toLocaleString('en'), align: 'right' },
  { title: 'DO NOT FIT', value: ({ misfits }) => misfits.toLocaleString('en'), align: 'right' },
  { title: 'FIRST', value: ({ first }) => first && `${first.at}: ${first.fault}`, most: 60 },
  { title: 'EVENT', value: ({ first }) => first?.event ?? null, isId: true },
]

const NOTICED: Column<AnswerOf<'GET /events/drifts'>['items'][number]>[] = [
  { title: 'EVENT', value: ({ event }) => event, isId: true },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'AT', value: ({ at }) => formatMoment(at), cut: 'never' },
  { title: 'CHANGES', value: ({ changes }) => changes.join('; '), most: 80 },
]

/** `upshot types check`: the events that came against the schemas; exits with 7 on a difference. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--since <when>', 'only events received since then: a duration before now, or an ISO 8601 time', parseSince)
    .option('--shapes <file>', `file that "types generate" wrote; default: ${SHAPES_FILE} beside the workflows`)
    .option('--show-values', 'show the value that does not fit; needs a terminal')
    .action(({ since: asked, shapes: file, showValues = false }) =>
      project.withOperations(async (operations) => {
        if (showValues && !out.isWatched) throw refuse('Values of events are shown on a terminal only.', ONE_EVENT)
        const since = readSince(asked)
        const config = await project.loadHere()
        const known = readShapes(file ?? join(config.workflowsDir, SHAPES_FILE))
        const definitions = await loadDefinitions(config)
        const { fits, shapes } = await readFits(operations, definitions, { since, showValues })
        const drifts = [...(known ?? [])].flatMap(([type, outline]): Drift[] => {
          const shape = shapes.get(type)
          const changes = shape === undefined ? [] : compareOutlines(outline, outlineOf(shape))
          return changes.length === 0 ? [] : [{ type, changes }]
        })
        const { items: noticed } = await call(operations, 'GET /events/drifts', { query: { since } })
        out.result({ definitions: fits, drifts, noticed }, () => [
          ...formatTable(fits, COLUMNS, out),
          ...drifts.flatMap(({ type, changes }) => ['', `${type} has changed:`, ...changes.map((each) => `  ${each}`)]),
          ...(noticed.length === 0 ? [] : ['', 'New when they came:', ...formatTable(noticed, NOTICED, out)]),
        ])
        if (known === null) out.note(`There is no ${SHAPES_FILE}, so changes of shapes are not looked for.`)
        if (drifts.length > 0 || fits.some(({ misfits }) => misfits > 0)) out.leaveWith('difference')
      }),
    )
}

/** Another process loads them first: one that loops or exits would hold or end this one. */
async function loadDefinitions(config: Config): Promise<UsedDefinition[]> {
  await using isolated = await openIsolated(NO_STORE, config, { onPrint: () => {} })
  const [broken] = isolated.code.broken
  if (broken) throw describeUnknown(broken.file, broken.error)
  return await listDefinitions(config.workflowsDir)
}

/** Values of events end in logs and pipes only where somebody puts them there. */
const ONE_EVENT = 'Leave out --show-values, or look at one event with "upshot events show <event>".'

/** Parses each event by each definition of its type, and folds it. */
async function readFits(
  operations: Operations,
  definitions: readonly UsedDefinition[],
  { since, showValues }: { since: string; showValues: boolean },
): Promise<{ fits: Fit[]; shapes: Map<string, Shape> }> {
  const fits = definitions.map(({ type, workflows }): Fit => ({ type, workflows, events: 0, misfits: 0, first: null }))
  const shapes = new Map<string, Shape>()
  const spellings = await readSpellings(operations)
  for await (const { id, type, account, data } of readTraffic(operations, { types: [], since })) {
    shapes.set(type, foldBody(shapes.get(type) ?? emptyShape(), data))
    for (const [n, fit] of fits.entries()) {
      if (!definitions[n]?.covers(type)) continue
      fit.events++
      const misfit = definitions[n].findFault(data, spellings.get(account) ?? {})
      if (misfit === null) continue
      fit.misfits++
      const { at, fault, shown } = misfit
      fit.first ??= { event: id, at, fault: showValues ? shown : fault }
    }
  }
  return { fits, shapes }
}
