import { useState } from 'react'
import { ApiError, urlOf } from '../../api/client.ts'
import { useAction } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useToasts } from '../../state/toasts.tsx'
import { shellWord } from '../../words/shell-word.ts'
import { STORAGES } from '../files/place.ts'

interface DialogParts {
  onClose: () => void
}

/** Writes a text file, as another user of the service would: it sends `file.created`. */
export function FileDialog({ onClose }: DialogParts) {
  const put = useAction('PUT /sandbox/files/:storage')
  const toast = useToasts()
  const [storage, setStorage] = useState<string>(STORAGES[0])
  const [path, setPath] = useState('/inbox/hello.txt')
  const [text, setText] = useState('Hello.\n')
  const perform = async (reason: string | undefined) => {
    await put.mutateAsync({ params: { storage }, body: { path, text, reason } })
    toast(`Wrote ${storage}:${path}.`)
  }
  const body = { path, text }
  const target = shellWord(`${storage}:${path}`)
  return (
    <Confirm
      title="Put a file into a storage"
      action="Put the file"
      onClose={onClose}
      perform={perform}
      beside={
        <CopyAs
          cli={['upshot', 'sandbox', 'storage', 'put', '-', target].join(' ')}
          url={urlOf('PUT /sandbox/files/:storage', { params: { storage }, body })}
          body={body}
          method="PUT"
        />
      }
    >
      <Place label="Path" storage={storage} setStorage={setStorage} path={path} setPath={setPath} />
      <label>
        Content
        <textarea rows={4} className="mono" value={text} onChange={(event) => setText(event.target.value)} />
      </label>
    </Confirm>
  )
}

/** Starts a copy between storages, which the service tells of. */
export function TransferDialog({ onClose }: DialogParts) {
  const start = useAction('POST /sandbox/transfers')
  const [fromStorage, setFromStorage] = useState<string>(STORAGES[0])
  const [fromPath, setFromPath] = useState('/inbox/hello.txt')
  const [toStorage, setToStorage] = useState<string>(STORAGES[1])
  const [toPath, setToPath] = useState('/inbox/')
  const [failAt, setFailAt] = useState('')
  const from = { storage: fromStorage as (typeof STORAGES)[number], path: fromPath }
  const to = { storage: toStorage as (typeof STORAGES)[number], path: toPath }
  const body = { from, to, failAt: failAt === '' ? null : Number(failAt) / 100 }
  const source = shellWord(`${fromStorage}:${fromPath}`)
  const target = shellWord(`${toStorage}:${toPath}`)
  const part = body.failAt === null ? [] : ['--fail-at', body.failAt]
  const command = ['upshot', 'sandbox', 'transfer', 'start', source, target, ...part].join(' ')
  return (
    <Confirm
      title="Start a transfer"
      action="Start the transfer"
      onClose={onClose}
      perform={(reason) => start.mutateAsync({ body: { ...body, reason } })}
      beside={<CopyAs cli={command} url={urlOf('POST /sandbox/transfers', { body })} body={body} />}
    >
      <Place label="From" storage={fromStorage} setStorage={setFromStorage} path={fromPath} setPath={setFromPath} />
      <Place label="To" storage={toStorage} setStorage={setToStorage} path={toPath} setPath={setToPath} />
      <label>
        <span>
          Fail at percent <span className="quiet">empty: it succeeds</span>
        </span>
        <input type="number" min={0} max={100} value={failAt} onChange={(event) => setFailAt(event.target.value)} />
      </label>
    </Confirm>
  )
}

/** Sends an event to every webhook that wants its type. */
export function EventDialog({ onClose }: DialogParts) {
  const emit = useAction('POST /sandbox/events')
  const toast = useToasts()
  const [type, setType] = useState('file.created')
  const [data, setData] = useState('{\n  "service": "storage_a"\n}')
  const value = parseObject(data)
  const body = { type, data: value ?? {} }
  const perform = async (reason: string | undefined) => {
    if (value === null) throw new ApiError(NO_OBJECT)
    const { event } = await emit.mutateAsync({ body: { ...body, reason } })
    toast(`Sent ${event}.`)
  }
  return (
    <Confirm
      title="Send an event of the service"
      action="Send the event"
      onClose={onClose}
      perform={perform}
      beside={
        <CopyAs cli={`upshot trigger ${shellWord(type)}`} url={urlOf('POST /sandbox/events', { body })} body={body} />
      }
    >
      <label>
        Type
        <input required value={type} onChange={(event) => setType(event.target.value)} />
      </label>
      <label>
        Data as JSON
        <textarea rows={6} className="mono" value={data} onChange={(event) => setData(event.target.value)} />
      </label>
    </Confirm>
  )
}

interface PlaceParts {
  label: string
  storage: string
  setStorage: (storage: string) => void
  path: string
  setPath: (path: string) => void
}

/** A storage and a path in it. */
function Place({ label, storage, setStorage, path, setPath }: PlaceParts) {
  return (
    <label>
      {label}
      <span className="row">
        <select aria-label={`${label}: storage`} value={storage} onChange={(event) => setStorage(event.target.value)}>
          {STORAGES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <span className="grow">
          <input
            required
            pattern="/.*"
            title="A path that begins with /"
            aria-label={label}
            value={path}
            onChange={(event) => setPath(event.target.value)}
          />
        </span>
      </span>
    </label>
  )
}

const NO_OBJECT = { status: 0, code: 'invalid_request', title: 'Not sent', detail: 'The data is no JSON object.' }

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
