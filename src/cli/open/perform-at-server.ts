import { UpshotError } from '../../core/errors.ts'
import { systemClock, waitUntil } from '../../core/time.ts'
import { confirm } from '../terminal/confirm.ts'
import { onInterrupt } from '../terminal/on-interrupt.ts'
import type { Output } from '../terminal/output.ts'
import { showProgress } from '../terminal/progress.ts'
import { call, type Operations } from './operations.ts'
import { describeRefusals, type OperationWords } from './perform-operation.ts'

/** How often the progress is asked for. */
const LOOK_MS = 500

interface Work {
  name: 'POST /operations' | 'POST /events/replay'
  body: object
  words: OperationWords
}

/** An operation on many rows at a server: counted, confirmed, begun and watched there. */
export async function performAtServer(out: Output, operations: Operations, { name, body, words }: Work): Promise<void> {
  const counted = await begin(operations, name, { ...body, isDryRun: true })
  const { operation: preview } = await watch(operations, counted, () => {})
  const { kind, total, runs, first } = preview
  const will = words.describe({ total, runs })
  const isConfirmed = total > 0 && (await confirm(out, { will, things: first, count: total }))
  if (out.given.dryRun) {
    return out.result({ kind, dryRun: true, matched: total, runs, first }, () => [`This would ${will}.`])
  }
  if (!isConfirmed) {
    return out.result({ kind, dryRun: false, operation: null, done: 0, refused: 0 }, () => [
      `No ${words.things.toLowerCase()}.`,
    ])
  }
  const id = await begin(operations, name, body)
  out.note(`Begun as ${id}. The server goes on with it if this command dies.`)
  using progress = showProgress(out, { title: `${words.things} ${words.done}`, total, unit: 'count' })
  const { operation, refusals } = await watch(operations, id, ({ done, refused }) => progress.set(done + refused))
  const { status, done, refused } = operation
  if (status === 'aborted') out.leaveWith('failed')
  out.result({ kind, dryRun: false, operation: id, status, done, refused, refusals }, () => [
    `${done} ${words.things.toLowerCase()} ${words.done}${refused === 0 ? '' : `, ${refused} refused`}.`,
    ...describeRefusals(refused, refusals),
  ])
}

async function begin(operations: Operations, name: Work['name'], body: object): Promise<string> {
  const { id } = await call(operations, name, { body } as never)
  return id
}

/** Follows an operation to its end; Ctrl-C aborts it. */
async function watch(
  operations: Operations,
  id: string,
  onProgress: (operation: { done: number; refused: number }) => void,
) {
  const signal = onInterrupt()
  for (let isAborted = false; ; ) {
    const answer = await call(operations, 'GET /operations/:id', { params: { id } })
    onProgress(answer.operation)
    if (answer.operation.endedAt !== null) return answer
    if (signal.aborted) {
      if (isAborted) throw new UpshotError('conflict', `Operation ${id} does not end.`)
      isAborted = true
      await call(operations, 'POST /operations/:id/abort', { params: { id }, body: {} })
    }
    await waitUntil(systemClock, systemClock.now() + LOOK_MS, signal).catch(() => {})
  }
}
