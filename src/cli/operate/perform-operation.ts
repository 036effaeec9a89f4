import type { CallOptions } from '../../admin/client/index.ts'
import type { AnswerOf } from '../../admin/contract/routes.ts'
import { call, type Operations } from '../open/operations.ts'
import { confirm } from '../terminal/confirm.ts'
import { onInterrupt } from '../terminal/on-interrupt.ts'
import type { Output } from '../terminal/output.ts'
import { showProgress, showWork } from '../terminal/progress.ts'

type Operation = AnswerOf<'POST /operations'>

/** Refusals that are listed for a person. */
const SHOWN = 20

/** An operation on many rows, and the words for it in a question and in a report. */
interface Work {
  name: 'POST /operations' | 'POST /events/replay'
  body: object
  things: 'Runs' | 'Events'
  /** Such as `retried`. */
  done: string
  /** The whole of it, such as `retry 2 runs (failed)`. */
  describe: (foreseen: Pick<Operation, 'total' | 'runs'>) => string
}

/**
 * Foresees an operation on many rows, asks, begins it and follows it to its end. A process of the
 * app goes on with it where this one dies; Ctrl-C aborts it.
 */
export async function performOperation(out: Output, operations: Operations, work: Work): Promise<void> {
  const begin = (more: object, options?: CallOptions): Promise<Operation> =>
    call(operations, work.name, { body: { ...work.body, ...more } } as never, options)
  using looking = showWork(out, `${work.things} found`)
  const preview = await begin({ isDryRun: true }, looking)
  looking.end()
  const { kind, total, runs, refused, foreseen } = preview
  const { examples = [], refusals = [] } = foreseen ?? {}
  const will = work.describe(preview)
  const things = examples.map(({ target, about }) => `${target}  ${about}`)
  const isConfirmed = total > 0 && (await confirm(out, { will, things, count: total }))
  if (out.given.dryRun) {
    const first = examples.map(({ target }) => target)
    const data = {
      kind,
      dryRun: true,
      matched: total,
      ...(kind === 'replay' ? { runs } : {}),
      first,
      refused,
      refusals,
    }
    return out.result(data, () => [`This would ${will}.`, ...describeRefusals(refused, refusals)])
  }
  if (!isConfirmed) return report(out, work, { ...preview, id: null, status: 'done', done: 0 }, refusals)
  const { id } = await begin({})
  out.note(`Started as ${id}. If this command dies, a process of the app continues.`)
  const ended = await follow(out, operations, { id, title: `${work.things} ${work.done}`, total: total + refused })
  if (ended.operation.status === 'aborted') out.leaveWith('failed')
  report(out, work, ended.operation, ended.refusals)
}

async function follow(
  out: Output,
  operations: Operations,
  { id, title, total }: { id: string; title: string; total: number },
): Promise<AnswerOf<'GET /operations/:id'>> {
  const signal = onInterrupt()
  const params = { id }
  using progress = showProgress(out, { title, total, unit: 'count' })
  for (let isAborted = false; ; ) {
    // The stream of a server that stops ends early, and begins anew.
    const options = isAborted ? {} : { signal }
    try {
      for await (const event of operations.events('GET /operations/:id/progress', { params }, options)) {
        const { done, refused } = event as Operation
        progress.set(done + refused)
        if (signal.aborted && !isAborted) break
      }
    } catch (error) {
      // At a server, Ctrl-C ends the stream itself.
      if (!signal.aborted || isAborted) throw error
    }
    if (signal.aborted && !isAborted) {
      isAborted = true
      await call(operations, 'POST /operations/:id/abort', { params, body: {} })
    }
    const answer = await call(operations, 'GET /operations/:id', { params })
    if (answer.operation.endedAt !== null) return answer
  }
}

/** An operation that is over, or that had nothing to do. */
type Ended = Pick<Operation, 'kind' | 'status' | 'done' | 'refused'> & { id: string | null }

function report(
  out: Output,
  { things, done: word }: Work,
  { kind, id, status, done, refused }: Ended,
  refusals: readonly { target: string; why: string }[],
): void {
  const thing = done === 1 ? things.toLowerCase().slice(0, -1) : things.toLowerCase()
  out.result({ kind, dryRun: false, operation: id, status, done, refused, refusals }, () => [
    `${done} ${thing} ${word}${refused === 0 ? '' : `, ${refused} refused`}.`,
    ...describeRefusals(refused, refusals),
    ...(status === 'aborted' ? [`Aborted; what is done stays done. See "upshot operations show ${id}".`] : []),
  ])
}

/** The first of the refused runs or events, with the reason. */
export function describeRefusals(refused: number, refusals: readonly { target: string; why: string }[]): string[] {
  const lines = refusals.slice(0, SHOWN).map(({ target, why }) => `  ${target}  ${why}`)
  return refused > SHOWN ? [...lines, `  … and ${refused - SHOWN} more`] : lines
}
