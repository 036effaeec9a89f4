import { describeError } from '../core/errors.ts'
import type { Notice, NoticeKind, NoticeOf, Publish } from '../core/notices.ts'

/** Calls listeners synchronously, in the order of subscription. */
export interface NoticeBus {
  publish: Publish
  /**
   * Listens to one kind, or with `*` to all; the result ends the subscription. An error of a
   * listener is published as a `fault`.
   */
  subscribe<Kind extends NoticeKind | '*'>(kind: Kind, listener: (notice: Heard<Kind>) => void): () => void
  /** The next notice that `predicate` accepts. Rejects with the signal's reason when it aborts. */
  once<Kind extends NoticeKind>(
    kind: Kind,
    predicate?: (notice: NoticeOf<Kind>) => boolean,
    signal?: AbortSignal,
  ): Promise<NoticeOf<Kind>>
}

/** The notice that a listener receives: of its kind, or any with `*`. */
type Heard<Kind extends NoticeKind | '*'> = Kind extends NoticeKind ? NoticeOf<Kind> : Notice

interface Subscription {
  kind: NoticeKind | '*'
  listener: (notice: never) => void
}

export function createNoticeBus(): NoticeBus {
  const subscriptions = new Set<Subscription>()
  let isReporting = false

  const publish: Publish = (notice) => {
    for (const subscription of [...subscriptions]) {
      const isMatch = subscription.kind === '*' || subscription.kind === notice.kind
      // An earlier listener may have ended this subscription just now.
      if (isMatch && subscriptions.has(subscription)) call(subscription.listener as Publish, notice)
    }
  }
  const call = (listener: Publish, notice: Notice) => {
    try {
      listener(notice)
    } catch (error) {
      report(notice.kind, error)
    }
  }
  const report = (kind: NoticeKind, error: unknown) => {
    // A listener of faults that fails would otherwise receive its own failure again and again.
    if (isReporting) return
    isReporting = true
    publish({ kind: 'fault', where: `listener of ${kind}`, error: describeError(error) })
    isReporting = false
  }
  const subscribe: NoticeBus['subscribe'] = (kind, listener) => {
    const subscription = { kind, listener }
    subscriptions.add(subscription)
    return () => void subscriptions.delete(subscription)
  }
  return { publish, subscribe, once: (...given) => listenOnce(subscribe, ...given) }
}

function listenOnce<Kind extends NoticeKind>(
  subscribe: NoticeBus['subscribe'],
  kind: Kind,
  predicate: (notice: NoticeOf<Kind>) => boolean = () => true,
  signal?: AbortSignal,
): Promise<NoticeOf<Kind>> {
  const { promise, resolve, reject } = Promise.withResolvers<NoticeOf<Kind>>()
  const abort = () => settle(() => reject(signal?.reason))
  const unsubscribe = subscribe(kind, (notice: NoticeOf<NoticeKind>) => {
    try {
      if (predicate(notice as NoticeOf<Kind>)) settle(() => resolve(notice as NoticeOf<Kind>))
    } catch (error) {
      settle(() => reject(error))
    }
  })
  const settle = (end: () => void) => {
    unsubscribe()
    signal?.removeEventListener('abort', abort)
    end()
  }
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return promise
}
