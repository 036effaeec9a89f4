import type { AnswerOf, InputOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { Act } from '../../parts/act.tsx'
import type { Field, Texts } from '../../parts/read-fields.ts'
import { When } from '../../parts/when.tsx'
import { countOf } from '../../words/format.ts'

export type Schedule = AnswerOf<'GET /schedules/:name'>
type Changed = InputOf<'PATCH /schedules/:name'>['body']

/** The parts of a schedule that change: those of a new one, or of one that is there. */
function fieldsOf(schedule: Schedule | null, { kind }: Texts): Field[] {
  const { expression, timezone, at, input, accounts, catchUp, overlap } = schedule ?? {}
  const isOnce = (kind ?? (at ? 'at' : 'cron')) === 'at'
  const times: Field[] = isOnce
    ? [{ name: 'at', label: 'Moment', kind: 'moment', isRequired: true, value: at ?? '' }]
    : [
        { name: 'cron', label: 'Cron line', isRequired: true, value: expression ?? '0 3 * * *' },
        { name: 'timezone', label: 'Time zone', isRequired: true, value: timezone ?? 'UTC' },
      ]
  const whens = { cron: 'By a cron line', at: 'Once' }
  const catchUps = { latest: 'One run for all', all: 'A run each', skip: 'None' }
  const overlaps = { queue: 'Wait for it', skip: 'Skip the moment', allow: 'Run beside it' }
  const hint = 'separated by commas; empty: default'
  return [
    { name: 'kind', label: 'When', options: Object.entries(whens), value: isOnce ? 'at' : 'cron' },
    ...times,
    {
      name: 'input',
      label: 'Input as JSON',
      kind: 'json',
      isRequired: true,
      value: JSON.stringify(input ?? {}, null, 2),
    },
    { name: 'accounts', label: 'Accounts', hint, value: accounts === 'each' ? 'each' : (accounts ?? []).join(', ') },
    { name: 'catchUp', label: 'Missed moments', options: Object.entries(catchUps), value: catchUp ?? 'latest' },
    {
      name: 'overlap',
      label: 'While the run before is at work',
      options: Object.entries(overlaps),
      value: overlap ?? 'queue',
    },
  ]
}

function bodyOf({ kind: _, accounts = 'default', ...rest }: Record<string, unknown>): Changed {
  const names = String(accounts).split(/\s*,\s*/)
  return { ...rest, accounts: accounts === 'each' ? 'each' : names.filter((name) => name !== '') }
}

export function AddSchedule() {
  const workflows = useApi('GET /workflows', {})
  const callable = workflows.data?.items.filter(({ input }) => input !== null) ?? []
  const own: Field[] = [
    { name: 'name', label: 'Name', isRequired: true },
    { name: 'workflow', label: 'Workflow', isRequired: true, options: callable.map(({ id }) => id) },
  ]
  return (
    <Act
      label="Add…"
      isDisabled={workflows.isPending}
      title="Add a schedule"
      action="Add"
      fields={(texts) => [...own, ...fieldsOf(null, texts)]}
      to="POST /schedules"
      given={(values) => ({ body: bodyOf(values) })}
    />
  )
}

export function ScheduleActs({ schedule }: { schedule: Schedule }) {
  const { id, name, kind, owner, workflow, doneAt, pausedAt } = schedule
  const isOwn = owner !== 'module'
  const isPaused = pausedAt !== null
  const params = { name: id }
  const whilePaused =
    kind === 'cron' ? 'Moments that pass meanwhile are counted, and get no run later.' : 'It waits until it is resumed.'
  return (
    <div className="row">
      {kind !== 'backfill' && workflow !== null && (
        <Act
          label="Run now…"
          title={`Run ${name} now?`}
          action="Run now"
          to="POST /schedules/:name/run"
          given={{ params }}
        >
          <p>Its run begins at once, or after the one before it.</p>
        </Act>
      )}
      {doneAt === null && (
        <Act
          label={isPaused ? 'Resume…' : 'Pause…'}
          title={`${isPaused ? 'Resume' : 'Pause'} the schedule ${name}?`}
          action={isPaused ? 'Resume' : 'Pause'}
          to={isPaused ? 'POST /schedules/:name/resume' : 'POST /schedules/:name/pause'}
          given={{ params }}
        >
          <p>{isPaused ? 'It makes ticks again.' : whilePaused}</p>
        </Act>
      )}
      {kind === 'cron' && <Backfill schedule={schedule} />}
      {isOwn && kind !== 'backfill' && workflow !== null && (
        <Act
          label="Edit…"
          title={`Edit ${name}`}
          action="Save"
          fields={(texts) => fieldsOf(schedule, texts)}
          to="PATCH /schedules/:name"
          given={(values) => ({ params, body: bodyOf(values) })}
        />
      )}
      {isOwn && (
        <Act
          label="Remove…"
          look="danger"
          title={`Remove ${name}?`}
          action="Remove"
          isDangerous
          to="DELETE /schedules/:name"
          given={{ params }}
        >
          <p>It starts nothing more. Its runs are kept.</p>
        </Act>
      )}
    </div>
  )
}

const STRETCH: readonly Field[] = [
  { name: 'from', label: 'From', kind: 'moment', isRequired: true },
  { name: 'to', label: 'To', kind: 'moment', isRequired: true },
  { name: 'perMinute', label: 'Moments per minute', kind: 'integer', min: 1, max: 6_000, value: '10' },
]

/** Asks for a stretch of the past, and says how many moments it has before it begins. */
function Backfill({ schedule: { id, name } }: { schedule: Schedule }) {
  return (
    <Act
      label="Backfill…"
      title={`Backfill ${name}`}
      action="Begin the backfill"
      fields={STRETCH}
      to="POST /schedules/:name/backfill"
      given={(values) => ({ params: { name: id }, body: values })}
    >
      {({ from = '', to = '' }) => (
        <>
          <p>Past moments get their runs, each once. A moment that ran before is passed over.</p>
          {from !== '' && to !== '' && <Foreseen name={id} from={momentOf(from)} to={momentOf(to)} />}
        </>
      )}
    </Act>
  )
}

const momentOf = (local: string) => new Date(local).toISOString()

function Foreseen({ name, from, to }: { name: string; from: string; to: string }) {
  const { data, error } = useApi('GET /schedules/:name/backfill', { params: { name }, query: { from, to } })
  if (error) return <p role="status">{error.message}</p>
  if (!data) return <p role="status">Counting…</p>
  return (
    <p role="status">
      {countOf(data.moments, 'moment')}, of which {data.ran} ran before. The last is <When at={data.last} />.
    </p>
  )
}
