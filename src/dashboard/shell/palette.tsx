import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { useApi } from '../api/use-api.ts'
import { historyOf, hrefOfWorkflow } from '../parts/text.tsx'
import { PLACES } from './places.ts'

/** Lines that are offered. */
const MAX_TARGETS = 12

interface Target {
  title: string
  hint: string
  href: string
}

/** Goes to anything: a page, a workflow, or what an id, a path or a word finds. */
export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const [, go] = useLocation()
  const workflows = useApi('GET /workflows', {})
  useEffect(() => dialog.current?.showModal(), [])
  const targets = findTargets(text, workflows.data?.items.map(({ id }) => id) ?? [])
  const open = (target: Target | undefined) => {
    if (!target) return
    dialog.current?.close()
    go(target.href)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    open(targets[active] ?? targets[0])
  }
  const onKeyDown = (event: React.KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by === 0) return
    event.preventDefault()
    setActive((active + by + targets.length) % Math.max(targets.length, 1))
  }
  return (
    <dialog ref={dialog} onClose={onClose} className="palette" aria-label="Go to">
      <form onSubmit={submit}>
        <input
          value={text}
          aria-label="Go to an id, a path, a workflow or a page"
          placeholder="An id, a path, a workflow or a page"
          onChange={(event) => {
            setText(event.target.value)
            setActive(0)
          }}
          onKeyDown={onKeyDown}
        />
      </form>
      <ul>
        {targets.map((target, index) => (
          <li key={target.href + target.title}>
            <button type="button" data-active={index === active} onClick={() => open(target)}>
              {target.title} <span className="quiet">{target.hint}</span>
            </button>
          </li>
        ))}
      </ul>
    </dialog>
  )
}

function findTargets(text: string, workflows: readonly string[]): Target[] {
  const words = text.trim()
  const matches = ({ title }: Target) => title.toLowerCase().includes(words.toLowerCase())
  const pages = PLACES.flat().map(({ href, title, key }) => ({ title, hint: `g ${key}`, href }))
  const known = workflows.map((id) => ({ title: id, hint: 'workflow', href: hrefOfWorkflow(id) }))
  const named = [...pages, ...known].filter(matches)
  if (words === '') return named.slice(0, MAX_TARGETS)
  return [...findDirect(words), ...named].slice(0, MAX_TARGETS - 2).concat(findSearches(words))
}

/** The page of an id, or the history of a path or a file. */
function findDirect(words: string): Target[] {
  const word = encodeURIComponent(words)
  if (words.startsWith('run_')) return [{ title: words, hint: 'run', href: `/runs/${word}` }]
  if (words.startsWith('evt_')) return [{ title: words, hint: 'event', href: `/events/${word}` }]
  if (words.startsWith('apr_')) return [{ title: words, hint: 'approval', href: `/approvals/${word}` }]
  if (!/^(storage_[abc]:|\/|fil_|trf_)/.test(words)) return []
  return [{ title: `The history of “${words}”`, hint: 'events, runs and effects', href: historyOf(words) }]
}

/** Last: a page or a workflow of this name is meant before its words are searched. */
function findSearches(words: string): Target[] {
  const word = encodeURIComponent(words)
  return [
    { title: `Runs with “${words}”`, hint: 'search', href: `/runs?q=${word}` },
    { title: `Events with “${words}”`, hint: 'search', href: `/events?q=${word}` },
  ]
}
