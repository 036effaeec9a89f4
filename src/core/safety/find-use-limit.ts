import type { Guard, Window } from './guard.ts'

/**
 * The limit of the project on a counter; null without one. A workflow may have limits of its own.
 */
export function findUseLimit(
  guard: Guard | null,
  { scope, class: kind, window }: { scope: string; class: 'delete' | 'write' | 'approved'; window: Window },
): number | null {
  if (guard === null || kind === 'approved') return null
  const [noun = 'all'] = scope.split('/')
  const limits = noun in guard ? guard[noun as keyof Guard] : undefined
  const counts = kind === 'delete' ? limits?.deletes : limits?.writes
  return (window === 'hour' ? counts?.perHour : counts?.perDay) ?? null
}
