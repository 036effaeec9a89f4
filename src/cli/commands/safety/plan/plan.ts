import { type Command, Option } from '@commander-js/extra-typings'
import { findEvent } from '../../../../admin/queries/find-event.ts'
import type { IsolatedProcess, PreviewedJob } from '../../../../app/preview/isolated-process.ts'
import { refuse, UpshotError } from '../../../../core/errors.ts'
import type { EventRecord } from '../../../../core/incoming/event.ts'
import { parseEvent } from '../../../../core/incoming/parse-event.ts'
import { planRuns } from '../../../../core/incoming/route.ts'
import { parseJson } from '../../../../core/json.ts'
import { DEFAULT_ACCOUNT } from '../../../../core/service/account.ts'
import { markEvent } from '../../../../core/store/events.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../command-clock.ts'
import { countUpTo } from '../../../input/parse-option.ts'
import { readText } from '../../../input/read-source.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import { showProgress } from '../../../terminal/progress.ts'
import { formatTable } from '../../../terminal/table.ts'
import { openCode, openLiveReads } from '../open-code.ts'
import { describePlanFile, writePlanFile } from './plan-file.ts'
import { advise, describePlan, formatPlan, formatSum, PLANS } from './plan-view.ts'

export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('[event]', 'id of the event, evt_…, or its beginning')
    .optionsGroup('Which events (default: the one that is named):')
    .option('--workflow <id>', 'the workflow (default: the only one that runs on the type of the event)')
    .option('--account <name>', 'account of the event, if several have one with this id')
    .option('--file <file>', 'plan an event that is not stored: a file with its body')
    .option('--last <n>', 'plan the newest n events that the workflow runs on', countUpTo(1_000))
    .optionsGroup('Code:')
    .option('--workflows <folder>', 'the folder of the code (default: that of the project)')
    .optionsGroup('Answers:')
    .addOption(
      new Option('--reads <source>', 'live: reads ask the service; recorded: those of the newest run of the event')
        .choices(['live', 'recorded'] as const)
        .default('live' as const),
    )
    .option('--trust-reads', 'let steps with effect "read" send anything, such as a POST that only asks')
    .option('--strict', 'borrow no result of another run: the plan is open there')
    .optionsGroup('Result:')
    .option('--save <file>', 'save the deletes and writes, for "upshot events replay <event> --plan <file>"')
    .action(
      (id, { workflow: named, account, file, last, workflows, reads: source, strict = false, save, trustReads }) => {
        // Before anything is loaded: a person sees at once that it has begun.
        out.note(`Planning ${file ?? id ?? `the newest events of ${named}`} …`)
        return project.withStore(async (store, config) => {
          if (save !== undefined && last !== undefined) {
            throw refuse('Only the plan of one event can be saved.', 'Name that event in place of --last.')
          }
          const now = commandClock.now()
          const { events, workflow } = await chooseEvents(store, { id, account, workflow: named, file, last }, now)
          const reads: string[] = []
          await using world = await openLiveReads(config, (operation) => reads.push(`files.${operation}`))
          const { readFiles } = world
          await using isolated = await openCode(out, { store, config, workflows, readFiles, trustReads })
          const codeHash = isolated.code.workflows.find((each) => each.id === workflow)?.codeHash ?? null
          const about = { workflow, codeHash, reads, stops: await store.listStops() }
          const rules = { readsLive: source === 'live', borrows: !strict }
          const plans: { event: EventRecord; plan: PreviewedJob }[] = []
          using progress = showProgress(out, { title: 'Events planned', total: events.length, unit: 'count' })
          for (const event of events) {
            const plan = await planEvent(store, isolated, { event, workflow, rules, now })
            // Ctrl-C ends the reads of a plan, which then fails.
            onInterrupt().throwIfAborted()
            plans.push({ event, plan })
            progress.set(plans.length)
          }
          progress.end()
          const all = plans.map(({ plan }) => plan)
          const [first] = plans
          if (last === undefined && first) {
            // A plan that cannot be saved is the one thing that is told.
            const notes = save === undefined ? [] : savePlan(first, { ...about, file: save, now })
            out.result(describePlan(first.plan, { ...about, ...first }), () =>
              formatPlan(first.plan, { ...about, ...first }, out),
            )
            for (const note of notes) out.note(note)
          } else {
            const described = plans.map(({ event, plan }) => describePlan(plan, { ...about, event }))
            out.result({ plans: described }, () => [...formatTable(plans, PLANS, out), '', formatSum(all, reads)])
          }
          const hasRecorded = first !== undefined && rules.readsLive && (await hasRun(store, first.event, workflow))
          for (const line of advise(all, { hasRecorded })) out.note(line)
          leave(out, all)
        })
      },
    )
}

async function hasRun(store: ReadStore, { id, account }: EventRecord, workflow: string): Promise<boolean> {
  return (await store.listRuns({ eventId: id, account, workflow, limit: 1 })).length > 0
}

interface Planned {
  event: EventRecord
  workflow: string
  rules: { readsLive: boolean; borrows: boolean }
  now: number
}

async function planEvent(
  store: ReadStore,
  isolated: IsolatedProcess,
  { event, workflow, rules, now }: Planned,
): Promise<PreviewedJob> {
  const { findRecorded, imagineRun } = await import('../../../../app/preview/plan-event.ts')
  const { readsLive, borrows } = rules
  const recorded = readsLive ? { steps: [] } : await findRecorded(store, event, workflow)
  const plans = { use: await store.listGuardUse(now), borrows }
  const plan = await isolated.previewOne({ claim: imagineRun(event, workflow, now), ...recorded }, { readsLive, plans })
  if (plan.unstarted === null) return plan
  const { by, on } = plan.unstarted
  throw new UpshotError('invalid_request', `"${workflow}" does not run on ${by}: it runs on ${on}.`)
}

/** Gives the lines that tell how to use it. */
function savePlan(
  { event, plan: planned }: { event: EventRecord; plan: PreviewedJob },
  about: { file: string; workflow: string; codeHash: string | null; now: number },
): string[] {
  const { file, workflow, codeHash, now } = about
  const plan = describePlanFile(planned, { event: event.id, account: event.account, workflow, codeHash, now })
  writePlanFile(file, plan)
  return [
    `${plan.effects.length} effects are in ${file}, ${plan.hash.slice(0, 8)}. A run that may do just these:`,
    `upshot events replay ${event.id} --workflow ${workflow} --plan ${file}`,
  ]
}

/** The gravest finding of all plans decides. */
function leave(out: Cli['out'], plans: readonly PreviewedJob[]): void {
  const endsAs = (kind: PreviewedJob['end']['kind']) => plans.some(({ end }) => end.kind === kind)
  if (plans.some(({ undeclared }) => undeclared.length > 0)) out.leaveWith('difference')
  else if (endsAs('failed')) out.leaveWith('failed')
  else if (endsAs('open')) out.leaveWith('unknown')
}

type EventReads = Pick<ReadStore, 'findEvents' | 'searchEvents' | 'listEvents' | 'listRoutes'>

/** The events of a plan, as options name them: one of the three. */
interface EventChoice {
  id: string | undefined
  account: string | undefined
  workflow: string | undefined
  file: string | undefined
  /** So many of the newest events that the workflow runs on. */
  last: number | undefined
}

const PAGE = 500
/** Events that are looked at for those of a workflow. */
const MAX_LOOKED = 100_000

/** The events to plan, newest first, with the workflow that runs on them. */
async function chooseEvents(
  store: EventReads,
  { id, account, workflow: named, file, last }: EventChoice,
  now: number,
): Promise<{ events: EventRecord[]; workflow: string }> {
  if ([id, file, last].filter((given) => given !== undefined).length !== 1) throw describeMisuse()
  if (last !== undefined) {
    if (named === undefined) throw describeMisuse()
    return { workflow: named, events: await listNewest(store, { workflow: named, account, limit: last }) }
  }
  const event =
    file === undefined
      ? await findEvent(store, { id: id ?? '', account })
      : readEventFile(file, { account: account ?? DEFAULT_ACCOUNT, now })
  return { events: [event], workflow: named ?? (await findOnlyWorkflow(store, event)) }
}

/** The newest events that start runs of a workflow, and still have their body. */
async function listNewest(
  store: EventReads,
  { workflow, account, limit }: { workflow: string; account: string | undefined; limit: number },
): Promise<EventRecord[]> {
  const routes = ((await store.listRoutes()) ?? []).filter((route) => route.workflow === workflow)
  const found: EventRecord[] = []
  let before: string | undefined
  for (let looked = 0; looked < MAX_LOOKED; looked += PAGE) {
    const page = await store.listEvents({ limit: PAGE, ...(before === undefined ? {} : { before }) })
    for (const event of page) {
      const isOurs = account === undefined || event.account === account
      if (isOurs && event.body !== '' && planRuns(event.type, routes).length > 0) found.push(event)
      if (found.length === limit) return found
    }
    const oldest = page.at(-1)
    if (page.length < PAGE || oldest === undefined) break
    before = markEvent(oldest)
  }
  if (found.length > 0) return found
  throw new UpshotError('not_found', `No stored event starts runs of "${workflow}".`, {
    fix: 'See what workflows run on: upshot workflows list. Or give the body of one: --file event.json',
  })
}

async function findOnlyWorkflow(store: EventReads, { id, type }: EventRecord): Promise<string> {
  const [only, ...others] = planRuns(type, (await store.listRoutes()) ?? [])
  if (only !== undefined && others.length === 0) return only
  const which = only === undefined ? 'No workflow runs' : 'Several workflows run'
  const fix =
    only === undefined ? 'Name one with --workflow.' : `Choose one with --workflow: ${[only, ...others].join(', ')}.`
  throw refuse(`${which} on events of type ${type}, such as ${id}.`, fix)
}

function describeMisuse(): UpshotError {
  return new UpshotError('invalid_request', 'Name one event, or --file, or --last with --workflow.', {
    fix: 'For example: "upshot plan evt_1", or "upshot plan --workflow tidy --last 20".',
  })
}

/** An event that is not stored, from the body of one. */
function readEventFile(file: string, { account, now }: { account: string; now: number }): EventRecord {
  const body = parseJson(readText(file))
  if (body === undefined) {
    const fix = 'It needs the body of an event: "upshot events show <id> --json" prints one as `body`.'
    throw refuse(`${file} is not valid JSON.`, fix)
  }
  const { id, type, created } = parseEvent(body)
  const at = { createdAt: Date.parse(created), receivedAt: now, stream: 0, seq: 0 }
  return { id, account, type, origin: 'webhook', body: JSON.stringify(body), ...at }
}
