import { describeError } from '../../core/errors.ts'
import type { Notice, NoticeKind } from '../../core/notices.ts'
import type { NoticeBus } from '../../notices/notice-bus.ts'

/** A message costs more than its content, so notices of this time share one. */
const GATHER_MS = 10
/** Notices that are sent at once: their code may block or end this thread next. */
const URGENT: ReadonlySet<NoticeKind> = new Set(['run.log', 'fault', 'runs.suspected'])

/** Sends the notices of a bus to another thread or process. The result sends all that are left. */
export function forwardNotices(
  { subscribe }: Pick<NoticeBus, 'subscribe'>,
  send: (notices: Notice[]) => void,
): () => void {
  let outbox: Notice[] = []
  const flush = () => {
    const notices = outbox
    outbox = []
    if (notices.length > 0) sendAll(notices, send)
  }
  subscribe('*', (notice) => {
    if (outbox.push(notice) === 1) setTimeout(flush, GATHER_MS)
    if (URGENT.has(notice.kind)) flush()
  })
  return flush
}

function sendAll(notices: Notice[], send: (notices: Notice[]) => void): void {
  try {
    send(notices)
  } catch {
    for (const notice of notices) sendAlone(notice, send)
  }
}

/** After a message failed: facts of an author's log line may be what no thread can send. */
function sendAlone(notice: Notice, send: (notices: Notice[]) => void): void {
  try {
    send([notice])
  } catch (error) {
    if (notice.kind === 'run.log') send([{ ...notice, facts: { unsendable: describeError(error).message } }])
    else send([{ kind: 'fault', where: `sending the notice ${notice.kind}`, error: describeError(error) }])
  }
}
