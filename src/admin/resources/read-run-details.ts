import type { z } from 'zod'
import type { Run } from '../../core/runs/run.ts'
import { readChain } from '../../core/store/runs.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { isoTime, momentOf } from '../../core/time.ts'
import type { Caller } from '../access/caller.ts'
import type { RUN_ROUTES } from '../contract/resources/runs.ts'
import { describeRuns, describeStep, maskValue, readData, seesPayloads } from '../views/run-view.ts'
import { describeHook } from './safety/hook-handlers.ts'

const MAX_CHILDREN = 100
const MAX_OUTSIDE = 50

type RunDetails = z.input<(typeof RUN_ROUTES)['GET /runs/:id/details']['answer']>

/** A run with everything that tells why it is as it is. */
export async function readRunDetails(
  store: ReadStore,
  run: Run,
  { caller, most, now }: { caller: Caller; most: number; now: number },
): Promise<RunDetails> {
  const { id } = run
  const isSeen = seesPayloads(caller)
  const read = (json: string | null) => readValue(json, caller)
  const [view] = await describeRuns(store, [run], caller)
  const [event] = run.eventId === null ? [] : await store.findEvents(run.eventId)
  const steps = await readSteps(store, id, caller)
  const outside = await store.listEffects({ runId: id, phases: ['noted'], limit: MAX_OUTSIDE })
  // A plan is told whole, however large it is.
  const output = run.status === 'planned' && run.output === null ? await store.readOutput(id, null) : run.output
  return {
    ...(view as Omit<RunDetails, 'event'>),
    output: read(output),
    event: event === undefined ? null : describeCause(event, caller),
    steps: steps.slice(0, most),
    stepsInAll: steps.length,
    hooks: (await store.listHooks(id)).map((hook) => describeHook(hook, now)),
    log: (isSeen ? await store.listRunLog(id) : []).map(({ number, at, level, message, facts }) => ({
      number,
      at: isoTime(at),
      level,
      message,
      facts: read(facts),
    })),
    outside: outside.toReversed().map(({ at, operation, outcome, target, step, proof }) => ({
      at: isoTime(at),
      call: operation,
      where: outcome,
      host: target,
      step,
      place: proof,
    })),
    chain: (await readChain(store, run)).map((each) => ({
      id: each.id,
      status: each.status,
      createdAt: isoTime(each.createdAt),
      startedAt: momentOf(each.startedAt),
      finishedAt: momentOf(each.finishedAt),
    })),
    children: (await store.listRuns({ limit: MAX_CHILDREN, originRun: id })).map((each) => ({
      id: each.id,
      status: each.status,
      createdAt: isoTime(each.createdAt),
      workflow: each.workflow,
      origin: each.origin,
      handler: each.handler,
    })),
  }
}

function describeCause(event: Parameters<typeof readData>[0], caller: Caller) {
  const { id, account, type, receivedAt } = event
  return { id, account, type, receivedAt: isoTime(receivedAt), ...readData(event, caller) }
}

/** The steps of a run, in their order, with their results and failed attempts. */
export async function readSteps(
  store: Pick<ReadStore, 'listSteps' | 'listStepFailures'>,
  run: string,
  caller: Caller,
): Promise<RunDetails['steps']> {
  const failures = Map.groupBy(await store.listStepFailures(run), ({ key }) => key)
  const steps = await store.listSteps(run)
  return steps.map((step) => ({
    ...describeStep(step, failures.get(step.key)),
    output: readValue(step.output, caller),
  }))
}

function readValue(json: string | null, caller: Caller): unknown {
  const value: unknown = json === null ? null : JSON.parse(json)
  return seesPayloads(caller) ? value : maskValue(value)
}
