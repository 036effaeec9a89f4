import { useState } from 'react'
import { useLocation } from 'wouter'
import { call } from '../../api/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'

/** Makes an endpoint; a secret that was made is shown once. */
export function NewEndpoint({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [events, setEvents] = useState('*')
  const [isLearning, setLearning] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const [, go] = useLocation()
  const add = async (reason: string | undefined) => {
    const patterns = events.split(',').map((pattern) => pattern.trim())
    const body = { name, events: patterns, learn: isLearning, reason }
    const made = await call('POST /endpoints', { body })
    if (made.secret === null) return go(`/endpoints/${encodeURIComponent(name)}`)
    setSecret(made.secret)
    // The dialog of the secret takes the place of this one.
    await new Promise(() => {})
  }
  if (secret !== null) {
    const close = () => {
      onClose()
      go(`/endpoints/${encodeURIComponent(name)}`)
    }
    return <SecretOnce secret={secret} onClose={close} />
  }
  return (
    <Confirm title="New endpoint" action="Make the endpoint" onClose={onClose} perform={add}>
      <label>
        Name
        <input required value={name} placeholder="main" onChange={(event) => setName(event.target.value)} />
      </label>
      <label>
        Events
        <input value={events} onChange={(event) => setEvents(event.target.value)} />
      </label>
      <label className="check">
        <input type="checkbox" checked={isLearning} onChange={(event) => setLearning(event.target.checked)} />
        Learn the signature scheme from the first deliveries
      </label>
    </Confirm>
  )
}
