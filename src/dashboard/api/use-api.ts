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
import { type ApiError, call } from './client.ts'

/** Asks once, and again when the live feed says that something changed. */
export function useApi<Name extends RouteName>(
  name: Name,
  input: InputOf<Name>,
  { isEnabled = true }: { isEnabled?: boolean } = {},
): UseQueryResult<AnswerOf<Name>, ApiError> {
  return useQuery<AnswerOf<Name>, ApiError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => call(name, input, signal),
    placeholderData: keepPreviousData as never,
    enabled: isEnabled,
  })
}

interface Page {
  items: readonly unknown[]
  next: string | null
}
type ListName = { [Name in RouteName]: AnswerOf<Name> extends Page ? Name : never }[RouteName]

/** A list that grows downwards, a page at a time. */
export function useList<Name extends ListName>(
  name: Name,
  input: { params?: Record<string, string>; query: Record<string, unknown> },
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
  }) as never
}

/** An action; all that is on the page is asked again after it. */
export function useAction<Name extends RouteName>(name: Name) {
  const client = useQueryClient()
  return useMutation<AnswerOf<Name>, ApiError, InputOf<Name>>({
    mutationFn: (input) => call(name, input),
    onSettled: () => client.invalidateQueries(),
  })
}
