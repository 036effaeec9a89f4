import {
  keepPreviousData,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { AnswerOf, InputOf, RouteName } from '../../admin/contract/routes.ts'
import type { ApiError } from './api-error.ts'
import { call } from './client.ts'

interface Manner {
  /** True: the live feed does not ask it again; a return to the window does, after 15 s. */
  isStill?: boolean
}

/** Long enough that a look at another window asks nothing of the service. */
const STILL_MS = 15_000

/** Mark of the questions that the live feed leaves alone. */
export const STILL = { isStill: true }

/** Set up by people, and asked for by most pages and rows: no more often than {@link SET_UP_MS}. */
export const SET_UP: ReadonlySet<unknown> = new Set<RouteName>([
  'GET /session',
  'GET /workflows',
  'GET /endpoints',
  'GET /accounts',
])
export const SET_UP_MS = 5_000

function optionsOf(name: RouteName, { isStill = false }: Manner) {
  if (isStill) return { meta: STILL, refetchOnWindowFocus: true, staleTime: STILL_MS }
  return SET_UP.has(name) ? { staleTime: SET_UP_MS } : {}
}

/** Asks once, and again when the live feed says that something changed. */
export function useApi<Name extends RouteName>(
  name: Name,
  input: InputOf<Name>,
  { isEnabled = true, ...manner }: { isEnabled?: boolean } & Manner = {},
): UseQueryResult<AnswerOf<Name>, ApiError> {
  return useQuery<AnswerOf<Name>, ApiError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => call(name, input, signal),
    enabled: isEnabled,
    ...optionsOf(name, manner),
  })
}

interface Page {
  items: readonly unknown[]
  next: string | null
}
export type ListName = { [Name in RouteName]: AnswerOf<Name> extends Page ? Name : never }[RouteName]

/** A list that grows downwards, a page at a time. */
export function useList<Name extends ListName>(
  name: Name,
  input: { params?: Record<string, string>; query: Record<string, unknown> },
  manner: Manner = {},
): UseInfiniteQueryResult<{ pages: AnswerOf<Name>[] }, ApiError> {
  return useInfiniteQuery({
    queryKey: [name, 'list', input],
    queryFn: ({ pageParam, signal }) => {
      const query = pageParam === null ? input.query : { ...input.query, after: pageParam }
      return call(name, { ...input, query } as unknown as InputOf<Name>, signal)
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => (page as Page).next,
    placeholderData: keepPreviousData as never,
    ...optionsOf(name, manner),
  }) as never
}

/**
 * An action; the question that it changes is asked again after it, or all that is on the page. It
 * is over before those have come: a slow one would hold an open dialog.
 */
export function useAction<Name extends RouteName>(
  name: Name,
  changed?: RouteName,
  perform: (input: InputOf<Name>) => Promise<AnswerOf<Name>> = (input) => call(name, input),
) {
  const client = useQueryClient()
  return useMutation<AnswerOf<Name>, ApiError, InputOf<Name>>({
    mutationFn: perform,
    onSettled: () => void client.invalidateQueries(changed && { queryKey: [changed] }),
  })
}
