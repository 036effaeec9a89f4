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
import { BackfillDialog, ScheduleDialog } from './schedule-dialogs.tsx'

type Schedule = AnswerOf<'GET /schedules/:name'>

/** Schedules of one page: the lines of modules, and what people and code added. */
const PAGE = 100

/** Schedules: when each is due next, and what it missed. */
export default function Schedules() {
  const [after, setAfter] = useState<string | undefined>()
  const [isAdding, setAdding] = useState(false)
  const schedules = useApi('GET /schedules', { query: { limit: PAGE, ...(after && { after }) } })
  const mayAct = useMay('operator')
  return (
    <div className="stack">
      <PageHead title="Schedules">
        {mayAct && (
          <button type="button" onClick={() => setAdding(true)}>
            Add…
          </button>
        )}
      </PageHead>
      {isAdding && <ScheduleDialog schedule={null} onClose={() => setAdding(false)} />}
      <Loaded of={schedules}>
        {({ items, next }) =>
          items.length === 0 ? (
            <Empty title="There is no schedule.">
              <p>Give a workflow a cron line, or add a schedule of a callable workflow:</p>
              <code>{"defineWorkflow({ id: 'nightly', on: cron('0 3 * * *'), … })"}</code>
            </Empty>
          ) : (
            <>
              <div className="columns">
                {items.map((schedule) => (
                  <ScheduleCard key={schedule.id} schedule={schedule} />
                ))}
              </div>
              {(next !== null || after !== undefined) && (
                <div className="row">
                  <button type="button" disabled={after === undefined} onClick={() => setAfter(undefined)}>
                    First page
                  </button>
                  <button type="button" disabled={next === null} onClick={() => setAfter(next ?? undefined)}>
                    Next page
                  </button>
                </div>
              )}
            </>
          )
        }
      </Loaded>
    </div>
  )
}

function ScheduleCard({ schedule }: { schedule: Schedule }) {
  const { name, workflow, sends, owner, madeBy, lastTickAt, lastRun, missed, next } = schedule
  const mayAct = useMay('operator')
  return (
    <article className="card padded stack">
      <div className="row">
        <h2>{name}</h2>
        <State schedule={schedule} />
      </div>
      <Times schedule={schedule} />
      <p className="small">
        <span className="quiet">Starts </span>
        {workflow === null ? `event ${sends}` : <Link href={`/workflows/${workflow}`}>{workflow}</Link>}
        <span className="quiet"> · {owner === 'module' ? madeBy : `added by ${madeBy}`}</span>
      </p>
      {next.length > 0 && (
        <p className="small">
          <span className="quiet">Next </span>
          {next.map((at, index) => (
            <span key={at}>
              {index > 0 && ' · '}
              <When at={at} />
            </span>
          ))}
        </p>
      )}
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

function State({ schedule: { pausedAt, doneAt } }: { schedule: Schedule }) {
  if (pausedAt === null && doneAt === null) return null
  return (
    <span className="status" data-state={doneAt === null ? 'waiting' : 'completed'}>
      {doneAt === null ? '⏸ paused' : '✓ done'}
    </span>
  )
}

function Times({ schedule }: { schedule: Schedule }) {
  const { kind, expression, timezone, at, from, to, perMinute } = schedule
  if (kind === 'once') {
    return (
      <p>
        Once, <When at={at} />
      </p>
    )
  }
  return (
    <p>
      <code>{expression}</code> <span className="quiet">{timezone}</span>
      {kind === 'backfill' && (
        <>
          {' from '}
          <When at={from} /> to <When at={to} />, {perMinute} a minute
        </>
      )}
    </p>
  )
}

type Dialog = 'run' | 'pause' | 'edit' | 'remove' | 'backfill'

function Actions({ schedule }: { schedule: Schedule }) {
  const [dialog, setDialog] = useState<Dialog | null>(null)
  const { kind, owner, workflow, doneAt, pausedAt } = schedule
  const isOwn = owner !== 'module'
  const names: Record<Dialog, string> = {
    ...{ run: 'Run now…', pause: pausedAt === null ? 'Pause…' : 'Resume…', backfill: 'Backfill…' },
    ...{ edit: 'Edit…', remove: 'Remove…' },
  }
  const fitting: Record<Dialog, boolean> = {
    run: kind !== 'backfill' && workflow !== null,
    pause: doneAt === null,
    backfill: kind === 'cron',
    edit: isOwn && kind !== 'backfill' && workflow !== null,
    remove: isOwn,
  }
  const close = () => setDialog(null)
  return (
    <div className="row">
      {(Object.keys(names) as Dialog[])
        .filter((each) => fitting[each])
        .map((each) => (
          <button key={each} type="button" onClick={() => setDialog(each)}>
            {names[each]}
          </button>
        ))}
      {dialog === 'edit' && <ScheduleDialog schedule={schedule} onClose={close} />}
      {dialog === 'backfill' && <BackfillDialog schedule={schedule} onClose={close} />}
      {dialog !== null && dialog !== 'edit' && dialog !== 'backfill' && (
        <ActDialog schedule={schedule} dialog={dialog} onClose={close} />
      )}
    </div>
  )
}

interface ActParts {
  schedule: Schedule
  dialog: 'run' | 'pause' | 'remove'
  onClose: () => void
}

function ActDialog({ schedule: { id, name, pausedAt, kind }, dialog, onClose }: ActParts) {
  const run = useAction('POST /schedules/:name/run')
  const pause = useAction('POST /schedules/:name/pause')
  const resume = useAction('POST /schedules/:name/resume')
  const remove = useAction('DELETE /schedules/:name')
  const params = { name: id }
  if (dialog === 'run') {
    return (
      <Confirm
        title={`Run ${name} now?`}
        action="Make a tick"
        onClose={onClose}
        perform={(reason) => run.mutateAsync({ params, body: { reason } })}
      >
        <p>Its run begins at once, or after the one before it.</p>
      </Confirm>
    )
  }
  if (dialog === 'remove') {
    return (
      <Confirm
        title={`Remove ${name}?`}
        action="Remove"
        isDangerous
        onClose={onClose}
        perform={(reason) => remove.mutateAsync({ params, query: { reason } })}
      >
        <p>It starts nothing more. Its runs are kept.</p>
      </Confirm>
    )
  }
  const isPaused = pausedAt !== null
  const whilePaused =
    kind === 'cron' ? 'Moments of the pause are counted, and never caught up with.' : 'It waits until it is resumed.'
  return (
    <Confirm
      title={`${isPaused ? 'Resume' : 'Pause'} the schedule ${name}?`}
      action={isPaused ? 'Resume' : 'Pause'}
      onClose={onClose}
      perform={(reason) => (isPaused ? resume : pause).mutateAsync({ params, body: { reason } })}
    >
      <p>{isPaused ? 'It makes ticks again.' : whilePaused}</p>
    </Confirm>
  )
}
