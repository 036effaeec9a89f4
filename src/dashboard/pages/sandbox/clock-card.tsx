import { type FormEvent, useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { useAction } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Moment, useNow } from '../../parts/when.tsx'
import { useToasts } from '../../state/toasts.tsx'
import { formatDuration } from '../../words/format.ts'

/** A difference below this is the way of the answer. */
const SAME_MS = 5_000

/** The sandbox's own time, and the way forward. */
export function ClockCard({ clock: { now, mode } }: { clock: AnswerOf<'GET /sandbox'>['clock'] }) {
  const toast = useToasts()
  const advance = useAction('POST /sandbox/clock/advance')
  const follow = useAction('POST /sandbox/clock/real')
  const [by, setBy] = useState('1h')
  const aheadMs = Date.parse(now) - useNow()
  const tell = { onError: (error: Error) => toast(error.message, true) }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    advance.mutate({ body: { by } }, tell)
  }
  return (
    <section className="card padded stack" aria-label="Clock">
      <div className="row">
        <h2>Clock</h2>
        <span className="push">
          <CopyAs
            cli={`upshot sandbox clock advance ${by}`}
            url={urlOf('POST /sandbox/clock/advance', { body: { by } })}
            body={{ by }}
          />
        </span>
      </div>
      <p>
        <Moment at={now} />
        <br />
        <span className="quiet">
          {mode === 'manual' ? 'It stands still' : 'It runs'}
          {aheadMs > SAME_MS && `, ${formatDuration(aheadMs)} ahead`}
        </span>
      </p>
      <form className="row" onSubmit={submit}>
        <span className="short">
          <input
            required
            aria-label="Advance the clock by"
            pattern="\d+(\.\d+)?(ms|s|m|h|d)"
            title="A duration such as 90s, 16m or 2h"
            value={by}
            onChange={(event) => setBy(event.target.value)}
          />
        </span>
        <button type="submit" disabled={advance.isPending}>
          Advance
        </button>
        <button
          type="button"
          className="plain"
          disabled={follow.isPending}
          onClick={() => follow.mutate({ body: {} }, tell)}
        >
          Real time
        </button>
      </form>
    </section>
  )
}
