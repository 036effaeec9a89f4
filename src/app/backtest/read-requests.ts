import { isPlainObject, parseJson } from '../../core/json.ts'
import type { Recording } from '../../core/runs/claim.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import type { EffectRecord } from '../../core/safety/effect.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { readHold } from '../../engine/play/compare/hold.ts'
import { type Request, readAsked } from '../../engine/play/compare/side-of-recording.ts'

type Reads = Pick<
  ReadStore,
  'listEffects' | 'findApproval' | 'findEvents' | 'findInvoked' | 'findQuestion' | 'readRecordings'
>

/** Most rows of the ledger that are read of one run. */
const MAX_ROWS = 20_000

/** The requests of a run: from the ledger, its events, its questions and the runs it invoked. */
export async function readRequests(store: Reads, { run, steps }: Pick<Recording, 'run' | 'steps'>): Promise<Request[]> {
  const acts = new Set(steps.filter(({ kind, effect }) => kind === 'run' && effect !== 'read').map(({ key }) => key))
  const rows =
    acts.size > 0 ? await store.listEffects({ runId: run.id, phases: ['begun', 'done'], limit: MAX_ROWS }) : []
  const others = steps.filter(({ kind }) => kind === 'send' || kind === 'invoke' || kind === 'approve')
  const read = await Promise.all(others.map((step) => readContent(store, run, step)))
  const own = rows.filter(({ step }) => acts.has(step ?? ''))
  const holds = await readHolds(store, own)
  return [
    ...own.map((row) =>
      row.approval === null ? readAsked(row) : { ...readAsked(row), hold: holds.get(row.approval) },
    ),
    ...read.filter((request) => request !== null),
  ]
}

/** The limits that these effects were approved over, by approval. */
async function readHolds(store: Reads, rows: readonly EffectRecord[]): Promise<Map<string, string | undefined>> {
  const ids = [...new Set(rows.map(({ approval }) => approval))].filter((id) => id !== null)
  const found = await Promise.all(ids.map((id) => store.findApproval(id, rows[0]?.at ?? 0)))
  return new Map(found.flatMap((each) => (each?.kind === 'guard' ? [[each.id, readHold(each.why, false)]] : [])))
}

/** Null where retention has taken it. */
async function readContent(
  store: Reads,
  run: Pick<Recording['run'], 'id' | 'account'>,
  step: Checkpoint,
): Promise<Request | null> {
  const content = await readPart(store, run, step)
  return content === null ? null : { step: step.key, content }
}

function readPart(
  store: Reads,
  { id, account }: Pick<Recording['run'], 'id' | 'account'>,
  step: Checkpoint,
): Promise<string | null> {
  if (step.kind === 'send') return readSent(store, account, step)
  return step.kind === 'invoke' ? readInput(store, id, step) : readQuestion(store, id, step)
}

/** The question as people saw it. */
async function readQuestion(
  store: Reads,
  runId: string,
  { key, target, startedAt }: Checkpoint,
): Promise<string | null> {
  const question = (await store.findQuestion(runId, key, startedAt))?.question
  return question ? JSON.stringify({ ask: target, show: question.show }) : null
}

async function readSent(store: Reads, account: string, { output }: Checkpoint): Promise<string | null> {
  const sent = output === null ? null : parseJson(output)
  if (!isPlainObject(sent) || typeof sent.id !== 'string') return null
  const event = (await store.findEvents(sent.id)).find((each) => each.account === account)
  return event === undefined || event.body === '' ? null : JSON.stringify(JSON.parse(event.body).data)
}

async function readInput(store: Reads, runId: string, { key }: Checkpoint): Promise<string | null> {
  const child = await store.findInvoked(runId, key)
  // The newest run of a chain has the input of its last link.
  if (child === null || child.originRun !== null) return null
  const [recording] = await store.readRecordings([child.id])
  return recording?.claim.cause.kind === 'call' ? recording.claim.cause.input : null
}
