import { type Field, type Texts, textOf } from './read-fields.ts'

export function Fields({
  fields,
  texts,
  set,
}: {
  fields: readonly Field[]
  texts: Texts
  set: (texts: Texts) => void
}) {
  return fields.map((field) => (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is inside
    <label key={field.name} className={field.kind === 'check' ? 'check' : undefined}>
      {field.kind !== 'check' && <Words of={field} />}
      <Control field={field} text={textOf(field, texts)} set={(text) => set({ ...texts, [field.name]: text })} />
      {field.kind === 'check' && <Words of={field} />}
    </label>
  ))
}

function Words({ of: { name, label = name, hint } }: { of: Field }) {
  return (
    <span>
      {label} {hint && <span className="quiet">{hint}</span>}
    </span>
  )
}

const TYPES = { number: 'number', integer: 'number', moment: 'datetime-local', secret: 'password' } as const

function Control({ field, text, set }: { field: Field; text: string; set: (text: string) => void }) {
  const { kind = 'text', options, isRequired = false, example, pattern, min, max } = field
  const change = ({ target }: { target: { value: string } }) => set(target.value)
  if (options) {
    return (
      <select required={isRequired} value={text} onChange={change}>
        {isRequired && <option value="">choose</option>}
        {options.map((option) => {
          const [value, words] = typeof option === 'string' ? [option, option] : option
          return (
            <option key={value} value={value}>
              {words}
            </option>
          )
        })}
      </select>
    )
  }
  if (kind === 'check') {
    return <input type="checkbox" checked={text === 'true'} onChange={({ target }) => set(String(target.checked))} />
  }
  if (kind === 'json' || kind === 'prose') {
    return <textarea rows={6} className="mono" required={isRequired} value={text} onChange={change} />
  }
  const type = kind === 'text' ? 'text' : TYPES[kind]
  const bounds = { min, max, ...(type === 'number' && { step: kind === 'integer' ? 1 : 'any' }) }
  const hints = { placeholder: example, pattern, autoComplete: 'off' }
  return <input type={type} required={isRequired} value={text} {...bounds} {...hints} onChange={change} />
}
