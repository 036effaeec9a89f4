import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { Act, ActNow } from '../../parts/act.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import type { Field, Texts } from '../../parts/fields.tsx'
import { Empty } from '../../parts/messages.tsx'
import { Card } from '../../parts/page.tsx'
import { CALL_EFFECTS, CALLS, DELIVERY_EFFECTS, describeFault } from '../../words/fault.ts'
import { shellWord } from '../../words/format.ts'

type Fault = AnswerOf<'GET /sandbox'>['faults'][number]

const COLUMNS: readonly Column<Fault>[] = [
  { title: 'On', width: '160px', cell: ({ on }) => <code>{on}</code> },
  { title: 'Does', className: 'wide', cell: (fault) => describeFault(fault) },
  {
    title: 'Struck',
    width: '150px',
    className: 'quiet',
    cell: ({ struck, times }) => (times === null ? `${struck} times` : `${struck} of ${times} times`),
  },
  {
    title: 'End it',
    width: '110px',
    cell: ({ id }) => <ActNow label="Remove" look="plain" to="DELETE /sandbox/faults/:id" input={{ params: { id } }} />,
  },
]

/** Errors on purpose, of the service's answers and its deliveries. */
export function FaultCard({ faults }: { faults: readonly Fault[] }) {
  return (
    <Card title="Faults" isPlain beside={<AddFault />}>
      {faults.length === 0 ? (
        <Empty title="No fault is set.">
          <p>A fault makes the service fail on purpose: an error, a delay, a lost or a forged delivery.</p>
        </Empty>
      ) : (
        <DataTable label="Faults" columns={COLUMNS} rows={faults} keyOf={({ id }) => id} />
      )}
    </Card>
  )
}

const WORDS: Record<string, string> = { '*': 'every call', download: 'bytes of downloads' }
const PLACES = [
  ...CALLS.map((call) => [call, WORDS[call] ?? call] as const),
  ['delivery', 'deliveries of webhooks'],
] as const

/** The effect of a fault that is chosen, of those that its place can have. */
function effectOf({ on, what }: Readonly<Record<string, unknown>>) {
  const effects = on === 'delivery' ? DELIVERY_EFFECTS : CALL_EFFECTS
  return { effects, effect: effects.find(({ title }) => title === what) ?? effects[0] }
}

/** Where a fault strikes, what it does, and how often. */
function fieldsOf(texts: Texts): Field[] {
  const { effects, effect } = effectOf({ on: 'files.download', ...texts })
  const amount = { name: 'amount', kind: 'number', min: 0, example: String(effect?.usual) } as const
  return [
    { name: 'on', label: 'Where', options: PLACES, value: 'files.download' },
    { name: 'what', label: 'What', options: effects.map(({ title }) => title), value: effect?.title ?? '' },
    ...(effect?.unit ? [{ ...amount, label: effect.unit }] : []),
    { name: 'times', label: 'How often', hint: 'empty: until it is removed', kind: 'number', min: 1, value: '1' },
  ]
}

function AddFault() {
  const ruleOf = (values: Readonly<Record<string, unknown>>) => {
    const { effect } = effectOf(values)
    const amount = Number(values.amount ?? effect?.usual)
    const often = values.times === undefined ? {} : { times: Number(values.times) }
    const rule = { on: String(values.on), [effect?.name ?? '']: effect?.unit ? amount : effect?.value, ...often }
    const given = effect?.unit ? [`${amount}${effect.unit === 'Milliseconds' ? 'ms' : ''}`] : []
    const times = values.times === undefined ? [] : ['--times', String(values.times)]
    return { rule, options: [effect?.option, ...given, ...times].join(' ') }
  }
  return (
    <Act
      label="Add a fault…"
      title="Add a fault"
      action="Add the fault"
      fields={fieldsOf}
      to="POST /sandbox/faults"
      given={(values) => ({ body: ruleOf(values).rule })}
      cli={(values) =>
        ['upshot', 'sandbox', 'fault', 'add', shellWord(String(values.on)), ruleOf(values).options].join(' ')
      }
    />
  )
}
