import { UpshotError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { toJson } from '../../core/json.ts'
import { readGraph } from '../../core/runs/annotations/read-graph.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import { joinUsual } from '../../core/runs/usual-time.ts'
import type { WorkflowRecord } from '../../core/runs/workflow-record.ts'
import { requireFit } from '../../core/service/require-fit.ts'
import { listBrokenModules } from '../../core/store/process-record.ts'
import type { RunHour } from '../../core/store/run-hour.ts'
import { withIsoTimes } from '../../core/time.ts'
import type { WORKFLOW_ROUTES } from '../contract/resources/workflows.ts'
import type { Handlers } from '../perform/handler.ts'
import { listUnmatched } from '../queries/list-unmatched.ts'
import { requireRun, requireWorkflow } from '../queries/require-row.ts'
import type { ResourceParts } from './parts.ts'
import { describeOne } from './run-handlers.ts'

const WEEK_MS = 7 * 86_400_000
/** Runs whose steps are drawn, and steps after which no further run is read. */
const GRAPHED = 20
const GRAPHED_STEPS = 5_000
/** Runs that are held or released per commit. */
const SLICE = 500

export function workflowHandlers(parts: ResourceParts): Handlers<keyof typeof WORKFLOW_ROUTES> {
  const { store } = parts
  const describeOf = async (workflow: string, now: number) => {
    const hours = await store.listRunHours({ since: now - WEEK_MS, workflow })
    return describeWorkflow(await requireWorkflow(store, workflow), hours)
  }
  return {
    async 'GET /workflows'({ now }) {
      const hours = Map.groupBy(await store.listRunHours({ since: now - WEEK_MS }), ({ workflow }) => workflow)
      const workflows = await store.listWorkflows()
      const items = workflows.map((workflow) => describeWorkflow(workflow, hours.get(workflow.id) ?? []))
      const broken = (await listBrokenModules(store, now)).map(({ file, reason }) => ({ file, reason }))
      return { items, broken, unmatched: await listUnmatched(store) }
    },
    async 'GET /workflows/:id'({ params, now }) {
      return describeOf(params.id, now)
    },
    async 'GET /workflows/:id/graph'({ params }) {
      const { id: workflow } = await requireWorkflow(store, params.id)
      const drawn: Checkpoint[][] = []
      let left = GRAPHED_STEPS
      for (const { id } of await store.listRuns({ workflow, limit: GRAPHED })) {
        const steps = await store.listSteps(id, 0)
        drawn.push(steps)
        left -= steps.length
        if (left <= 0) break
      }
      return { runs: drawn.length, ...readGraph(drawn) }
    },
    async 'DELETE /workflows/:id'({ params, writes, now }) {
      const { id } = await requireWorkflow(store, params.id)
      await writes.removeWorkflow(id, now)
      return undefined
    },
    async 'POST /workflows/:id/pause'({ params, writes, now }) {
      const { id } = await requireWorkflow(store, params.id)
      await writes.pauseWorkflow(id, now)
      while ((await store.holdRuns(id, SLICE)) > 0);
      return describeOf(id, now)
    },
    async 'POST /workflows/:id/resume'({ params, writes, now }) {
      const { id } = await requireWorkflow(store, params.id)
      await writes.resumeWorkflow(id)
      while ((await store.releaseHeldRuns(id, SLICE)) > 0);
      return describeOf(id, now)
    },
    async 'POST /workflows/:id/start'({ params, caller, body, writes, now }) {
      const workflow = await requireWorkflow(store, params.id)
      requireCallable(workflow)
      const input = readInput(body.input)
      requireFit(workflow, body.input ?? null)
      const id = newId('run', now)
      const start = { run: id, workflow: workflow.id, account: body.account, input, createdAt: now }
      await writes.startRun(start)
      return describeOne(store, await requireRun(store, id), caller)
    },
  }
}

/** A workflow without event types and schedule is one that an input starts. */
export function requireCallable({ id, eventTypes, schedule }: WorkflowRecord): void {
  if (eventTypes.length === 0 && schedule === null) return
  const fix =
    schedule === null
      ? `Send an event of one of its types: ${eventTypes.join(', ')}.`
      : `Make a tick: upshot schedules run ${id}`
  throw new UpshotError('conflict', `The workflow "${id}" is not callable.`, { fix })
}

function describeWorkflow(
  { priority = 0, runTimeoutMs, input = null, ...rest }: WorkflowRecord,
  hours: readonly RunHour[],
) {
  return {
    ...withIsoTimes(rest),
    input,
    usual: joinUsual(hours.filter(({ status }) => status === 'completed')),
    priority,
    runTimeoutMs: runTimeoutMs ?? null,
  }
}

/** Largest input of a run that a person or a program starts. */
const MAX_INPUT_BYTES = 65_536

/** The input as JSON text. Throws `body_too_large`. */
export function readInput(given: unknown): string {
  const input = toJson(given, 'The input')
  if (Buffer.byteLength(input) <= MAX_INPUT_BYTES) return input
  throw new UpshotError('body_too_large', `The input has more than ${MAX_INPUT_BYTES} bytes. Pass ids, not content.`)
}
