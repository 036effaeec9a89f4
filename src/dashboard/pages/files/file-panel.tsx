import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { type ApiError, call, urlOf } from '../../api/client.ts'
import { useApi } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Bones, ProblemNote } from '../../parts/messages.tsx'
import { Facts } from '../../parts/text.tsx'
import { Moment } from '../../parts/when.tsx'
import { useMay, useSession } from '../../state/session.ts'
import { useToasts } from '../../state/toasts.tsx'
import { formatBytes } from '../../words/format.ts'
import { shellWord } from '../../words/shell-word.ts'
import { storyOf } from '../../words/story.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import type { OneSide } from './place.ts'

type Details = AnswerOf<'GET /files/:storage/:id'>

/** One file as the service has it now, with what may be done with it. */
export function FilePanel({ side }: { side: OneSide }) {
  const { account, storage, file: id } = side
  const file = useApi('GET /files/:storage/:id', { params: { storage, id }, query: { account } }, { isStill: true })
  return (
    <aside className="card panel first" aria-label="File">
      <div className="row">
        <h2 className="wrap">
          <bdi>{file.data?.name ?? 'File'}</bdi>
        </h2>
        <Link href={side.hrefWith({ file: '' })} className="button plain push" aria-label="Close the file">
          ✕
        </Link>
      </div>
      {file.error && <ProblemNote error={file.error} />}
      {!file.data && !file.error && <Bones lines={4} />}
      {file.data && <Body file={file.data} side={side} />}
    </aside>
  )
}

function Body({ file, side }: { file: Details; side: OneSide }) {
  const params = { storage: file.service, id: file.id }
  const target = shellWord(`${file.service}:${file.id}`)
  return (
    <>
      <Actions file={file} side={side} />
      <Facts
        facts={[
          ['Path', <bdi key="path">{`${file.service}:${file.path}`}</bdi>],
          ['Size', file.size === null ? '–' : formatBytes(file.size)],
          ['Type', file.mimeType ?? file.type],
          ['Changed', <Moment key="changed" at={file.modifiedAt} />],
          ['Made', <Moment key="made" at={file.createdAt} />],
          file.owner === null ? null : ['Owner', file.owner],
          file.shared === null ? null : ['Shared', file.shared ? 'others have access' : 'no'],
          ['Id', <code key="id">{file.id}</code>],
        ]}
      />
      <div className="row">
        <Link href={storyOf(`${file.service}:${file.id}`)}>Story of this file</Link>
        <span className="quiet">·</span>
        <Link href={storyOf(`${file.service}:${file.path}`)}>of its path</Link>
        <span className="push">
          <CopyAs
            cli={`upshot files get ${target}`}
            url={urlOf('GET /files/:storage/:id', { params, query: { account: side.account } })}
          />
        </span>
      </div>
    </>
  )
}

function Actions({ file, side }: { file: Details; side: OneSide }) {
  const isAdmin = useMay('admin')
  const { isSandbox } = useSession()
  const [isOpen, setOpen] = useState(false)
  const [, go] = useLocation()
  const isPlayground = isSandbox && side.account === 'default'
  if (file.type === 'folder') return null
  return (
    <div className="row">
      <Download file={file} account={side.account} />
      {(isPlayground || isAdmin) && (
        <button type="button" className="danger" onClick={() => setOpen(true)}>
          Delete…
        </button>
      )}
      {isOpen && (
        <DeleteDialog
          file={file}
          account={side.account}
          isTyped={!isPlayground}
          onClose={() => setOpen(false)}
          onDeleted={() => go(side.hrefWith({ file: '' }))}
        />
      )}
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
