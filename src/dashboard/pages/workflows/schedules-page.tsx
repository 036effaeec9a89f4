import { useState } from 'react'
import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { countOf } from '../../words/format.ts'

type Schedule = AnswerOf<'GET /schedules/:name'>

/** Schedules: when each is due next, and what it missed. */
export default function Schedules() {
  const schedules = useApi('GET /schedules', {})
  return (
    <div className="stack">
      <PageHead title="Schedules" />
      <Loaded of={schedules}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No workflow has a schedule.">
              <p>Give a workflow a cron line:</p>
              <code>{"defineWorkflow({ id: 'nightly', on: cron('0 3 * * *'), … })"}</code>
            </Empty>
          ) : (
            <div className="columns">
              {items.map((schedule) => (
                <ScheduleCard key={schedule.id} schedule={schedule} />
              ))}
            </div>
          )
        }
      </Loaded>
    </div>
  )
}

function ScheduleCard({ schedule }: { schedule: Schedule }) {
  const { name, workflow, expression, timezone, at, sends, pausedAt, doneAt, lastTickAt, lastRun, missed } = schedule
  const mayAct = useMay('operator')
  return (
    <article className="card padded stack">
      <div className="row">
        <h2>{workflow === null ? name : <Link href={`/workflows/${encodeURIComponent(workflow)}`}>{name}</Link>}</h2>
        {pausedAt !== null && (
          <span className="status" data-state="waiting">
            ⏸ paused
          </span>
        )}
      </div>
      <p>
        <code>{expression ?? at}</code> <span className="quiet">{timezone ?? sends}</span>
      </p>
      {doneAt === null ? <Ahead next={schedule.next} /> : <p className="small quiet">Done</p>}
      <p className="small quiet">
        Last tick <When at={lastTickAt} />
        {lastRun && (
          <>
            {' · '}
            <Link href={`/runs/${lastRun}`}>its run</Link>
          </>
        )}
        {missed > 0 && <span className="status">{` · ${countOf(missed, 'moment')} missed`}</span>}
      </p>
      {mayAct && <Actions schedule={schedule} />}
    </article>
  )
}

function Ahead({ next }: { next: readonly string[] }) {
  if (next.length === 0) return null
  return (
    <p className="small">
      <span className="quiet">Next </span>
      {next.map((at, index) => (
        <span key={at}>
          {index > 0 && ' · '}
          <When at={at} />
        </span>
      ))}
    </p>
  )
}

function Actions({ schedule }: { schedule: Schedule }) {
  const [dialog, setDialog] = useState<'run' | 'pause' | null>(null)
  const run = useAction('POST /schedules/:name/run')
  const pause = useAction('POST /schedules/:name/pause')
  const resume = useAction('POST /schedules/:name/resume')
  const { name, pausedAt } = schedule
  const params = { name }
  const isPaused = pausedAt !== null
  return (
    <div className="row">
      <button type="button" onClick={() => setDialog('run')}>
        Run now…
      </button>
      <button type="button" onClick={() => setDialog('pause')}>
        {isPaused ? 'Resume…' : 'Pause…'}
      </button>
      {dialog === 'run' && (
        <Confirm
          title={`Run ${name} now?`}
          action="Make a tick"
          onClose={() => setDialog(null)}
          perform={(reason) => run.mutateAsync({ params, body: { reason } })}
        >
          <p>Its run begins at once, or after the one before it.</p>
        </Confirm>
      )}
      {dialog === 'pause' && (
        <Confirm
          title={`${isPaused ? 'Resume' : 'Pause'} the schedule ${name}?`}
          action={isPaused ? 'Resume' : 'Pause'}
          onClose={() => setDialog(null)}
          perform={(reason) => (isPaused ? resume : pause).mutateAsync({ params, body: { reason } })}
        >
          <p>{isPaused ? 'It makes ticks again.' : 'Moments of the pause are counted, and never caught up with.'}</p>
        </Confirm>
      )}
    </div>
  )
}
