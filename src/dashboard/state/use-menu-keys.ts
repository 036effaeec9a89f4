import { useCallback } from 'react'

/** Walks the buttons of a popover with the arrow keys; the first has the focus when it opens. */
export function useMenuKeys(): (menu: HTMLElement | null) => (() => void) | undefined {
  return useCallback((menu: HTMLElement | null) => {
    if (!menu) return undefined
    const buttons = () => [...menu.querySelectorAll('button')]
    const onToggle = (event: Event) => {
      if ((event as ToggleEvent).newState === 'open') buttons()[0]?.focus()
    }
    const onKeyDown = (event: KeyboardEvent) => {
      const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
      const all = buttons()
      if (by === 0 || all.length === 0) return
      event.preventDefault()
      const at = all.indexOf(document.activeElement as HTMLButtonElement)
      all[(at + by + all.length) % all.length]?.focus()
    }
    menu.addEventListener('toggle', onToggle)
    menu.addEventListener('keydown', onKeyDown)
    return () => {
      menu.removeEventListener('toggle', onToggle)
      menu.removeEventListener('keydown', onKeyDown)
    }
  }, [])
}
