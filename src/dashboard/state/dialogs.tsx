import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { useLocation } from 'wouter'

/** Makes a dialog that calls `close` when it has closed. */
type Open = (make: (close: () => void) => ReactNode) => void

const DialogContext = createContext<Open>(() => {})
export const useDialogs = (): Open => useContext(DialogContext)

/**
 * Holds the open dialog of the page until it closes. It stays as it was when it was opened, also
 * where its button changes or goes with a row: nobody does something else than what they read.
 */
export function Dialogs({ children }: { children: ReactNode }) {
  const [location] = useLocation()
  const [held, setHeld] = useState<{ location: string; dialog: ReactNode } | null>(null)
  const open: Open = (make) => setHeld({ location, dialog: make(() => setHeld(null)) })
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when an address is left
  useEffect(() => () => setHeld(null), [location])
  return (
    <DialogContext value={open}>
      {children}
      {held?.location === location && held.dialog}
    </DialogContext>
  )
}
