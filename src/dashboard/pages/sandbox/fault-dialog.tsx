import { useState } from 'react'
import { urlOf } from '../../api/client.ts'
import { useAction } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { CALL_EFFECTS, CALLS, DELIVERY_EFFECTS } from '../../words/fault.ts'
import { shellWord } from '../../words/shell-word.ts'

/** Adds a fault: where it strikes, what it does, and how often. */
export function FaultDialog({ onClose }: { onClose: () => void }) {
  const add = useAction('POST /sandbox/faults')
  const [on, setOn] = useState('files.download')
  const [index, setIndex] = useState(0)
  const [amount, setAmount] = useState('')
  const [times, setTimes] = useState('1')
  const effects = on === 'delivery' ? DELIVERY_EFFECTS : CALL_EFFECTS
  const effect = effects[index] ?? effects[0]
  if (!effect) return null
  const number = Number(amount || effect.usual)
  const value = effect.unit ? number : effect.value
  const rule = { on, [effect.name]: value, ...(times === '' ? {} : { times: Number(times) }) }
  const given = effect.unit ? [`${number}${effect.unit === 'Milliseconds' ? 'ms' : ''}`] : []
  const often = times === '' ? [] : ['--times', times]
  const command = ['upshot', 'sandbox', 'fault', 'add', shellWord(on), effect.option, ...given, ...often].join(' ')
  return (
    <Confirm
      title="Add a fault"
      action="Add the fault"
      onClose={onClose}
      perform={(reason) => add.mutateAsync({ body: { ...rule, reason } })}
      beside={<CopyAs cli={command} url={urlOf('POST /sandbox/faults', { body: rule })} body={rule} />}
    >
      <label>
        Where
        <select
          value={on}
          onChange={(event) => {
            setOn(event.target.value)
            setIndex(0)
            setAmount('')
          }}
        >
          {CALLS.map((each) => (
            <option key={each} value={each}>
              {each === '*' ? 'every call' : each === 'download' ? 'bytes of downloads' : each}
            </option>
          ))}
          <option value="delivery">deliveries of webhooks</option>
        </select>
      </label>
      <label>
        What
        <select value={index} onChange={(event) => setIndex(Number(event.target.value))}>
          {effects.map(({ title }, each) => (
            <option key={title} value={each}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {effect.unit && (
        <label>
          {effect.unit}
          <input
            type="number"
            min={0}
            value={amount}
            placeholder={String(effect.usual)}
            onChange={(event) => setAmount(event.target.value)}
          />
        </label>
      )}
      <label>
        <span>
          How often <span className="quiet">empty: until it is removed</span>
        </span>
        <input type="number" min={1} value={times} onChange={(event) => setTimes(event.target.value)} />
      </label>
    </Confirm>
  )
}
