import { ApiError } from '../../api/client.ts'
import { Act } from '../../parts/act.tsx'
import type { Field } from '../../parts/fields.tsx'
import { STORAGES, shellWord } from '../../words/format.ts'

type Storage = (typeof STORAGES)[number]
type Values = Readonly<Record<string, unknown>>

const storageField = (name: string, label: string, value: Storage): Field => ({ name, label, options: STORAGES, value })

const pathField = (name: string, label: string, value: string): Field => {
  return { name, label, isRequired: true, pattern: '/.*', value }
}

const FILE: readonly Field[] = [
  storageField('storage', 'Storage', 'storage_a'),
  pathField('path', 'Path', '/inbox/hello.txt'),
  { name: 'text', label: 'Content', kind: 'prose', value: 'Hello.\n' },
]

const TRANSFER: readonly Field[] = [
  storageField('fromStorage', 'From the storage', 'storage_a'),
  pathField('fromPath', 'Path', '/inbox/hello.txt'),
  storageField('toStorage', 'To the storage', 'storage_b'),
  pathField('toPath', 'Path there', '/inbox/'),
  { name: 'failAt', label: 'Fail at percent', hint: 'empty: it succeeds', kind: 'number', min: 0, max: 100 },
]

function transferOf({ fromStorage, fromPath, toStorage, toPath, failAt }: Values) {
  return {
    from: { storage: fromStorage as Storage, path: String(fromPath) },
    to: { storage: toStorage as Storage, path: String(toPath) },
    failAt: failAt === undefined ? null : Number(failAt) / 100,
  }
}

const targetOf = ({ storage, path }: { storage: unknown; path: unknown }) => shellWord(`${storage}:${path}`)

/** The acts of another user of the service: files, transfers and events. */
export function Makers() {
  return (
    <div className="row">
      <Act
        label="Put a file…"
        title="Put a file into a storage"
        action="Put the file"
        fields={FILE}
        to="PUT /sandbox/files/:storage"
        given={({ storage, path, text = '' }) => ({
          params: { storage: String(storage) },
          body: { path: String(path), text: String(text) },
        })}
        cli={({ storage, path }) => ['upshot', 'sandbox', 'storage', 'put', '-', targetOf({ storage, path })].join(' ')}
        then={() => 'Wrote the file.'}
      />
      <Act
        label="Transfer…"
        title="Start a transfer"
        action="Start the transfer"
        fields={TRANSFER}
        to="POST /sandbox/transfers"
        given={(values) => ({ body: transferOf(values) })}
        cli={(values) => {
          const { from, to, failAt } = transferOf(values)
          const part = failAt === null ? [] : ['--fail-at', failAt]
          return ['upshot', 'sandbox', 'transfer', 'start', targetOf(from), targetOf(to), ...part].join(' ')
        }}
      />
      <Act
        label="Send an event…"
        title="Send an event of the service"
        action="Send the event"
        fields={[
          { name: 'type', label: 'Type', isRequired: true, value: 'file.created' },
          { name: 'data', label: 'Data as JSON', kind: 'json', value: '{\n  "service": "storage_a"\n}' },
        ]}
        to="POST /sandbox/events"
        given={({ type, data }) => ({ body: { type: String(type), data: requireObject(data) } })}
        cli={({ type }) => `upshot trigger ${shellWord(String(type))}`}
        then={({ event }) => `Sent ${event}.`}
      />
    </div>
  )
}

function requireObject(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  const problem = { status: 0, code: 'invalid_request', title: 'Not sent', detail: 'The data is no JSON object.' }
  throw new ApiError(problem)
}
