import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { ApiError, call, urlOf } from '../../api/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useToasts } from '../../state/toasts.tsx'
import { formatBytes } from '../../words/format.ts'
import { shellWord } from '../../words/shell-word.ts'

type Details = AnswerOf<'GET /files/:storage/:id'>

interface DialogParts {
  file: Details
  account: string
  /** True: the name of the file has to be typed first. */
  isTyped: boolean
  onClose: () => void
  onDeleted: () => void
}

/** Deletes a file as it was seen, once a person has confirmed it. */
export function DeleteDialog({ file, account, isTyped, onClose, onDeleted }: DialogParts) {
  const client = useQueryClient()
  const toast = useToasts()
  const { service, id, name, path, size, modifiedAt } = file
  const params = { storage: service, id }
  const target = shellWord(`${service}:${id}`)
  const body = { account, expect: { path, size, modifiedAt }, count: 1 } as const
  const perform = async (reason: string | undefined) => {
    const { outcome, error } = await call('POST /files/:storage/:id/delete', { params, body: { ...body, reason } })
    if (outcome !== 'deleted' && outcome !== 'already_gone') throw describeRefusal(outcome, error)
    toast(`Deleted ${name}.`)
    onDeleted()
    // The folder only: the panel would ask for the file that is gone.
    await client.invalidateQueries({ queryKey: ['GET /files/:storage'] })
  }
  return (
    <Confirm
      title="Delete this file for good?"
      action="Delete the file"
      isDangerous
      onClose={onClose}
      perform={perform}
      beside={
        <CopyAs
          cli={`upshot files rm ${target}`}
          url={urlOf('POST /files/:storage/:id/delete', { params, body })}
          body={body}
        />
      }
    >
      <p className="wrap">
        <bdi>{`${service}:${path}`}</bdi>
        {size !== null && <span className="quiet">, {formatBytes(size)}</span>}
      </p>
      <p className="quiet">
        It goes only if it is still as shown here. The effect ledger keeps who deleted it, and a stop holds it.
      </p>
      {isTyped && <TypedName name={name} />}
    </Confirm>
  )
}

/** A field that is valid once it holds the name of the file. */
function TypedName({ name }: { name: string }) {
  const [text, setText] = useState('')
  return (
    <label>
      <span>
        Type <strong className="wrap">{name}</strong> to confirm
      </span>
      <input
        required
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          event.target.setCustomValidity(event.target.value === name ? '' : 'This is not the name of the file.')
        }}
      />
    </label>
  )
}

const REFUSALS: Record<string, string> = {
  changed: 'It has changed since it was shown. Read it again, then decide anew.',
  not_found: 'The service has no such file any more.',
  dry_run: 'The client only rehearses: nothing was sent.',
}

function describeRefusal(outcome: string, error: string | null): ApiError {
  const detail = error ?? REFUSALS[outcome] ?? 'The service did not delete it.'
  return new ApiError({ status: 409, code: outcome, title: 'The file was not deleted', detail })
}
