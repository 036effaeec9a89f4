import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { useSingleKeys, useTheme } from '../state/settings.ts'
import { PLACES } from './places.ts'

/** Time within which the second key of a pair such as `g r` counts. */
const PAIR_MS = 1_200
/** Before every moment; that of an event is counted from the loading of the page. */
const NEVER = Number.NEGATIVE_INFINITY

const HELP = [
  ['/', 'search'],
  ['j k', 'next, previous row'],
  ['Enter', 'open the row'],
  ['x', 'select the row'],
  ['u', 'up, to the list'],
  ['n', 'older rows'],
  ['r', 'retry the run'],
  ['c', 'cancel the run'],
  ['.', 'open the menu of the page; arrows walk it'],
  ['Ctrl K', 'go to anything'],
  ['t', 'light, dark or as the system'],
  ['?', 'this list'],
] as const

/** The keys of the whole page. `isHelpOpen` and `isPaletteOpen` are dialogs that they open. */
export function useKeys(open: { help: () => void; palette: () => void }): void {
  const [location, go] = useLocation()
  const { areOn } = useSingleKeys()
  const { next: nextTheme } = useTheme()
  const pair = useRef(NEVER)
  useEffect(() => {
    const ofPage: Record<string, () => void> = {
      '?': open.help,
      t: nextTheme,
      u: () => go(location.replace(/\/[^/]+$/, '') || '/'),
    }
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
        event.preventDefault()
        return open.palette()
      }
      if (!areOn || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      // A key that is held down walks rows, and presses nothing a second time.
      if (event.repeat && !/^[jk]$/.test(event.key)) return
      const isSecond = event.timeStamp - pair.current < PAIR_MS
      pair.current = event.key === 'g' ? event.timeStamp : NEVER
      const place = isSecond && PLACES.flat().find(({ key }) => key === event.key)
      if (place) return go(place.href)
      if (ACTIONS[event.key]?.()) return event.preventDefault()
      ofPage[event.key]?.()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [areOn, go, location, nextTheme, open])
}

/** Each returns true where it did something. */
const ACTIONS: Record<string, () => boolean> = {
  '/': () => focusOn('[data-key="/"]'),
  j: () => walk(1),
  k: () => walk(-1),
  n: () => press('n'),
  r: () => press('r'),
  c: () => press('c'),
  '.': () => press('.'),
}

function focusOn(selector: string): boolean {
  const found = document.querySelector<HTMLElement>(selector)
  found?.focus()
  return found !== null
}

function press(key: string): boolean {
  const button = document.querySelector<HTMLButtonElement>(`button[data-key="${key}"]:not(:disabled)`)
  button?.click()
  return button !== null
}

function walk(by: number): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next = rows[at === -1 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
  return next !== undefined
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input:not([type="checkbox"]), textarea, select, dialog') !== null
  )
}

/** The list of all keys, and the switch that turns single keys off. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const { areOn, next } = useSingleKeys()
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} onClose={onClose} className="stack" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl className="keys">
        {HELP.map(([keys, meaning]) => (
          <Key key={keys} keys={keys} meaning={meaning} />
        ))}
        {PLACES.flat().map(({ key, title }) => (
          <Key key={key} keys={`g ${key}`} meaning={title} />
        ))}
      </dl>
      <div className="row">
        <label className="row">
          <input type="checkbox" checked={areOn} onChange={next} /> Single keys act
        </label>
        <button type="button" className="push" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  )
}

function Key({ keys, meaning }: { keys: string; meaning: string }) {
  return (
    <>
      <dt>
        <kbd>{keys}</kbd>
      </dt>
      <dd>{meaning}</dd>
    </>
  )
}

export function useHelp() {
  const [open, setOpen] = useState<'help' | 'palette' | null>(null)
  const [actions] = useState(() => ({ help: () => setOpen('help'), palette: () => setOpen('palette') }))
  return { open, close: () => setOpen(null), actions }
}
