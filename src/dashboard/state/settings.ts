import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()

function read(name: string, otherwise: string): string {
  return localStorage.getItem(`upshot.${name}`) ?? otherwise
}

function save(name: string, value: string): void {
  localStorage.setItem(`upshot.${name}`, value)
  apply()
}

/** Shows what is saved now, by this tab or by another one. */
function apply(): void {
  applyTheme()
  for (const listener of listeners) listener()
}
addEventListener('storage', apply)

function useSetting(name: string, otherwise: string): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => read(name, otherwise),
  )
}

const THEMES = ['auto', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

/** Light, dark, or as the system has it. */
export function useTheme(): { theme: Theme; next: () => void } {
  const theme = useSetting('theme', 'auto') as Theme
  const next = () => save('theme', THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto')
  return { theme, next }
}

export function applyTheme(): void {
  const theme = read('theme', 'auto')
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

/** Whether moments are shown in UTC or in the browser's zone. */
export function useZone(): { isUtc: boolean; next: () => void } {
  const isUtc = useSetting('zone', 'utc') === 'utc'
  return { isUtc, next: () => save('zone', isUtc ? 'local' : 'utc') }
}

interface SavedSearch {
  name: string
  /** With its question mark. */
  query: string
}

/** The searches of a page that this browser keeps. */
export function useSearches(path: string): { searches: readonly SavedSearch[]; save: (all: SavedSearch[]) => void } {
  const name = `searches:${path}`
  const text = useSetting(name, '[]')
  return { searches: JSON.parse(text) as SavedSearch[], save: (all) => save(name, JSON.stringify(all)) }
}

/** Whether single keys act (WCAG 2.1.4). */
export function useSingleKeys(): { areOn: boolean; next: () => void } {
  const areOn = useSetting('keys', 'on') === 'on'
  return { areOn, next: () => save('keys', areOn ? 'off' : 'on') }
}
