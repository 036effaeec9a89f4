import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'

const SHOWN_MS = 5_000

type Show = (text: string, isBad?: boolean) => void

const ToastContext = createContext<Show>(() => {})
export const useToasts = (): Show => useContext(ToastContext)

/** Short messages in the corner, which a screen reader hears. */
export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<{ id: number; text: string; isBad: boolean }[]>([])
  const show = useCallback<Show>((text, isBad = false) => {
    const id = performance.now()
    setToasts((shown) => [...shown.slice(-2), { id, text, isBad }])
    setTimeout(() => setToasts((shown) => shown.filter((toast) => toast.id !== id)), SHOWN_MS)
  }, [])
  return (
    <ToastContext value={show}>
      {children}
      <div className="toasts" role="status">
        {toasts.map(({ id, text, isBad }) => (
          <div key={id} className="toast wrap" data-state={isBad ? 'failed' : 'completed'}>
            {text}
          </div>
        ))}
      </div>
    </ToastContext>
  )
}
