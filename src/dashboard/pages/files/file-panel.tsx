import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { ApiError } from '../../api/api-error.ts'
import { call, urlOf } from '../../api/client.ts'
import { useApi } from '../../api/use-api.ts'
import { Act } from '../../parts/act.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Loaded } from '../../parts/messages.tsx'
import { Facts, historyOf } from '../../parts/text.tsx'
import { Moment } from '../../parts/when.tsx'
import { useMay, useSession } from '../../state/session.ts'
import { useToasts } from '../../state/toasts.tsx'
import { formatBytes, shellWord } from '../../words/format.ts'

type Details = AnswerOf<'GET /files/:storage/:id'>

interface PanelParts {
  account: string
  storage: string
  id: string
  /** Address of the page without the file. */
  close: string
}

/** One file as the service has it now, with what may be done with it. */
export function FilePanel({ account, storage, id, close }: PanelParts) {
  const input = { params: { storage, id }, query: { account } }
  const file = useApi('GET /files/:storage/:id', input, { isStill: true })
  return (
    <aside className="card panel first" aria-label="File">
      <div className="row">
        <h2 className="wrap">
          <bdi>{file.data?.name ?? 'File'}</bdi>
        </h2>
        <Link href={close} className="button plain push" aria-label="Close the file">
          ✕
        </Link>
      </div>
      <Loaded of={file} lines={4}>
        {(found) => (
          <>
            <Actions file={found} account={account} close={close} />
            <Facts
              facts={[
                ['Path', <bdi key="path">{`${found.service}:${found.path}`}</bdi>],
                ['Size', found.size === null ? '–' : formatBytes(found.size)],
                ['Type', found.mimeType ?? found.type],
                ['Changed', <Moment key="changed" at={found.modifiedAt} />],
                ['Created', <Moment key="created" at={found.createdAt} />],
                found.owner !== null && ['Owner', found.owner],
                found.shared !== null && ['Shared', found.shared ? 'others have access' : 'no'],
                ['Id', <code key="id">{found.id}</code>],
              ]}
            />
            <div className="row">
              <Link href={historyOf(`${found.service}:${found.id}`)}>History of this file</Link>
              <span className="quiet">·</span>
              <Link href={historyOf(`${found.service}:${found.path}`)}>of its path</Link>
              <span className="push">
                <CopyAs cli={`upshot files get ${targetOf(found)}`} to="GET /files/:storage/:id" input={input} />
              </span>
            </div>
          </>
        )}
      </Loaded>
    </aside>
  )
}

const targetOf = ({ service, id }: Details) => shellWord(`${service}:${id}`)

type ActionParts = Pick<PanelParts, 'account' | 'close'> & { file: Details }

function Actions({ file, account, close }: ActionParts) {
  const isAdmin = useMay('admin')
  const { isSandbox } = useSession()
  const isPlayground = isSandbox && account === 'default'
  if (file.type === 'folder') return null
  return (
    <div className="row">
      <Download file={file} account={account} />
      {(isPlayground || isAdmin) && <Delete file={file} account={account} close={close} isTyped={!isPlayground} />}
    </div>
  )
}

/** The browser fetches the bytes from the app by a ticket; no address of the service is shown. */
function Download({ file, account }: { file: Details; account: string }) {
  const toast = useToasts()
  const [isBusy, setBusy] = useState(false)
  const download = async () => {
    setBusy(true)
    try {
      const params = { storage: file.service, id: file.id }
      const { ticket } = await call('POST /files/:storage/:id/ticket', { params, body: { account } })
      const link = document.createElement('a')
      link.href = urlOf('GET /downloads/:ticket', { params: { ticket } })
      link.download = file.name
      link.click()
    } catch (error) {
      toast((error as ApiError).message, true)
    }
    setBusy(false)
  }
  return (
    <button type="button" className="main" disabled={isBusy} onClick={() => void download()}>
      Download
    </button>
  )
}

/** Deletes a file as it was seen. `isTyped`: its name has to be typed first. */
function Delete({ file, account, close, isTyped }: ActionParts & { isTyped: boolean }) {
  const [, go] = useLocation()
  const { service, id, name, path, size, modifiedAt } = file
  const pattern = name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return (
    <Act
      label="Delete…"
      look="danger"
      title="Delete this file for good?"
      action="Delete the file"
      isDangerous
      fields={isTyped ? [{ name: 'typed', label: `Type ${name} to confirm`, isRequired: true, pattern }] : []}
      to="POST /files/delete"
      given={() => ({ body: { account, files: [{ service, id, path, size, modifiedAt }], count: 1 } })}
      cli={`upshot files rm ${targetOf(file)}`}
      // The folder only: the panel would ask for the file that is gone.
      changed="GET /files/:storage"
      then={({ files: [removed] }) => {
        if (removed && !/^(deleted|already_gone)$/.test(removed.outcome)) throw describeRefusal(removed)
        go(close)
        return `Deleted ${name}.`
      }}
    >
      <p className="wrap">
        <bdi>{`${service}:${path}`}</bdi>
        {size !== null && <span className="quiet">, {formatBytes(size)}</span>}
      </p>
      <p className="quiet">
        It goes only if it is still as shown here. The effect ledger keeps who deleted it, and a stop holds it.
      </p>
    </Act>
  )
}

const REFUSALS: Record<string, string> = {
  changed: 'It has changed since it was shown. Read it again, then decide anew.',
  not_found: 'The service has no such file any more.',
  dry_run: 'The client only rehearses: nothing was sent.',
}

function describeRefusal({ outcome, error }: { outcome: string; error: string | null }): ApiError {
  const detail = error ?? REFUSALS[outcome] ?? 'The service did not delete it.'
  return new ApiError({ status: 409, code: outcome, title: 'The file was not deleted', detail })
}
