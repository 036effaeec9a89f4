import { Link } from 'wouter'
import { useList } from '../../api/use-api.ts'
import { List } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page.tsx'
import { WorkflowLink } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { countOf } from '../../words/format.ts'
import { AddSchedule, type Schedule, ScheduleActs } from './schedule-acts.tsx'

/** Schedules of one page: the lines of modules, and what people and code added. */
const PAGE = 100

/** Schedules: when each is due next, and what it missed. */
export default function Schedules() {
  const schedules = useList('GET /schedules', { query: { limit: PAGE } })
  const mayAct = useMay('operator')
  return (
    <div className="stack">
      <PageHead title="Schedules">{mayAct && <AddSchedule />}</PageHead>
      <List
        of={schedules}
        empty={
          <Empty title="No schedule yet.">
            <p>Give a workflow a cron line, or add a schedule of a callable workflow:</p>
            <code>{"defineWorkflow({ id: 'nightly', on: cron('0 3 * * *'), … })"}</code>
          </Empty>
        }
      >
        {(items) => (
          <div className="columns">
            {items.map((schedule) => (
              <ScheduleCard key={schedule.id} schedule={schedule} mayAct={mayAct} />
            ))}
          </div>
        )}
      </List>
    </div>
  )
}

function ScheduleCard({ schedule, mayAct }: { schedule: Schedule; mayAct: boolean }) {
  const { name, workflow, sends, owner, madeBy, lastTickAt, lastRun, missed, next, pausedAt, doneAt } = schedule
  return (
    <article className="card padded stack">
      <div className="row">
        <h2>{name}</h2>
        {(pausedAt !== null || doneAt !== null) && (
          <span className="status" data-state={doneAt === null ? 'waiting' : 'completed'}>
            {doneAt === null ? '‖ paused' : '✓ done'}
          </span>
        )}
      </div>
      <Times schedule={schedule} />
      <p className="small">
        <span className="quiet">Starts </span>
        {workflow === null ? `event ${sends}` : <WorkflowLink id={workflow} />}
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
        {missed > 0 && ` · ${countOf(missed, 'moment')} missed`}
      </p>
      {mayAct && <ScheduleActs schedule={schedule} />}
    </article>
  )
}

function Times({ schedule: { kind, expression, timezone, at, from, to, perMinute } }: { schedule: Schedule }) {
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
