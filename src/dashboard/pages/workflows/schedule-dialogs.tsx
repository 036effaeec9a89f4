import { useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { When } from '../../parts/when.tsx'
import { countOf } from '../../words/format.ts'

type Schedule = AnswerOf<'GET /schedules/:name'>

interface Fields {
  name: string
  workflow: string
  kind: 'cron' | 'at'
  cron: string
  timezone: string
  at: string
  input: string
  account: string
  catchUp: Schedule['catchUp']
  overlap: Schedule['overlap']
}

const NEW: Fields = {
  ...{ name: '', workflow: '', kind: 'cron', cron: '0 3 * * *', timezone: 'UTC', at: '', input: '{}' },
  ...{ account: '', catchUp: 'latest', overlap: 'queue' },
}

/** Asks for the parts of a schedule: a new one, or one that is changed. */
export function ScheduleDialog({ schedule, onClose }: { schedule: Schedule | null; onClose: () => void }) {
  const [fields, setFields] = useState<Fields>(schedule === null ? NEW : fieldsOf(schedule))
  const set = (change: Partial<Fields>) => setFields({ ...fields, ...change })
  const add = useAction('POST /schedules')
  const edit = useAction('PATCH /schedules/:name')
  const save = async (reason: string | undefined) => {
    const body = { ...bodyOf(fields), reason }
    if (schedule !== null) return edit.mutateAsync({ params: { name: schedule.id }, body })
    return add.mutateAsync({ body: { ...body, name: fields.name, workflow: fields.workflow } })
  }
  return (
    <Confirm
      title={schedule === null ? 'Add a schedule' : `Edit ${schedule.name}`}
      action={schedule === null ? 'Add' : 'Save'}
      isReady={fields.name !== '' && fields.workflow !== ''}
      onClose={onClose}
      perform={save}
    >
      {schedule === null && <NewFields fields={fields} set={set} />}
      <TimeFields fields={fields} set={set} />
      <label>
        Input as JSON
        <textarea
          rows={4}
          className="mono"
          value={fields.input}
          onChange={({ target }) => set({ input: target.value })}
        />
      </label>
      <RuleFields fields={fields} set={set} />
    </Confirm>
  )
}

interface FieldParts {
  fields: Fields
  set: (change: Partial<Fields>) => void
}

function NewFields({ fields, set }: FieldParts) {
  const workflows = useApi('GET /workflows', {})
  const callable = workflows.data?.items.filter(({ input }) => input !== null) ?? []
  return (
    <>
      <label>
        Name
        <input value={fields.name} required onChange={({ target }) => set({ name: target.value })} />
      </label>
      <label>
        Workflow
        <select value={fields.workflow} required onChange={({ target }) => set({ workflow: target.value })}>
          <option value="">Choose a callable workflow</option>
          {callable.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
    </>
  )
}

function TimeFields({ fields, set }: FieldParts) {
  return (
    <>
      <label>
        When
        <select value={fields.kind} onChange={({ target }) => set({ kind: target.value as Fields['kind'] })}>
          <option value="cron">By a cron line</option>
          <option value="at">Once</option>
        </select>
      </label>
      {fields.kind === 'cron' ? (
        <>
          <label>
            Cron line
            <input className="mono" value={fields.cron} onChange={({ target }) => set({ cron: target.value })} />
          </label>
          <label>
            Time zone
            <input value={fields.timezone} onChange={({ target }) => set({ timezone: target.value })} />
          </label>
        </>
      ) : (
        <label>
          Moment
          <input
            type="datetime-local"
            required
            value={fields.at}
            onChange={({ target }) => set({ at: target.value })}
          />
        </label>
      )}
    </>
  )
}

function RuleFields({ fields, set }: FieldParts) {
  return (
    <>
      <label>
        <span>
          Accounts <span className="quiet">with commas between; empty: default</span>
        </span>
        <input value={fields.account} onChange={({ target }) => set({ account: target.value })} />
      </label>
      <label>
        Missed moments
        <select value={fields.catchUp} onChange={({ target }) => set({ catchUp: target.value as Fields['catchUp'] })}>
          <option value="latest">One run for all</option>
          <option value="all">A run each</option>
          <option value="skip">None</option>
        </select>
      </label>
      <label>
        While the run before is at work
        <select value={fields.overlap} onChange={({ target }) => set({ overlap: target.value as Fields['overlap'] })}>
          <option value="queue">Wait for it</option>
          <option value="skip">Skip the moment</option>
          <option value="allow">Run beside it</option>
        </select>
      </label>
    </>
  )
}

/** Asks for a stretch of the past, and says how many moments it has before it begins. */
export function BackfillDialog({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [perMinute, setPerMinute] = useState(10)
  const begin = useAction('POST /schedules/:name/backfill')
  const params = { name: schedule.id }
  const isGiven = from !== '' && to !== ''
  const perform = (reason: string | undefined) =>
    begin.mutateAsync({
      params,
      body: { from: momentOf(from), to: momentOf(to), perMinute, reason },
    })
  return (
    <Confirm
      title={`Backfill ${schedule.name}`}
      action="Begin the backfill"
      isReady={isGiven}
      onClose={onClose}
      perform={perform}
    >
      <p>Past moments get their runs, each once. A moment that ran before is passed over.</p>
      <label>
        From
        <input type="datetime-local" required value={from} onChange={({ target }) => setFrom(target.value)} />
      </label>
      <label>
        To
        <input type="datetime-local" required value={to} onChange={({ target }) => setTo(target.value)} />
      </label>
      <label>
        Moments per minute
        <input
          type="number"
          min={1}
          max={6000}
          value={perMinute}
          onChange={({ target }) => setPerMinute(Number(target.value))}
        />
      </label>
      {isGiven && <Foreseen name={schedule.id} from={momentOf(from)} to={momentOf(to)} />}
    </Confirm>
  )
}

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

function fieldsOf(schedule: Schedule): Fields {
  const { name, workflow, expression, timezone, at, input, accounts, catchUp, overlap } = schedule
  return {
    ...{ ...NEW, name, catchUp, overlap, workflow: workflow ?? '', kind: at === null ? 'cron' : 'at' },
    ...{ cron: expression ?? NEW.cron, timezone: timezone ?? NEW.timezone, at: at === null ? '' : localOf(at) },
    input: JSON.stringify(input, null, 2),
    account: accounts === 'each' ? 'each' : accounts.join(', '),
  }
}

function bodyOf({ kind, cron, timezone, at, input, account, catchUp, overlap }: Fields) {
  const names = account
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const accounts = account.trim() === 'each' ? ('each' as const) : names
  const acts = names.length === 0 ? {} : { accounts }
  const time = kind === 'cron' ? { cron, timezone } : { at: momentOf(at) }
  return { ...time, ...acts, input: JSON.parse(input) as unknown, catchUp, overlap }
}

/** A local time of an input, as the API takes it. */
function momentOf(local: string): string {
  return new Date(local).toISOString()
}

function localOf(iso: string): string {
  const moment = new Date(iso)
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
