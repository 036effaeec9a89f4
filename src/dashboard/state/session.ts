import { createContext, useContext } from 'react'
import type { AnswerOf } from '../../admin/contract/routes.ts'

export type Session = AnswerOf<'GET /session'>

export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('There is no session outside of the shell.')
  return session
}

const RANKS = { viewer: 0, operator: 1, admin: 2 } as const

/** Whether the role of the caller includes another; buttons beyond it are absent. */
export function useMay(role: keyof typeof RANKS): boolean {
  return RANKS[useSession().role] >= RANKS[role]
}
