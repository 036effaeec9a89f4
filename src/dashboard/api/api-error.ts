import type { Problem } from '../../admin/contract/route.ts'

/** An error of the API: RFC 9457 with our fields. Also made for a server that does not answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly problem: Pick<Problem, 'status' | 'code' | 'title' | 'detail' | 'fix' | 'errors' | 'retryAt'>

  constructor(problem: ApiError['problem']) {
    super(problem.detail)
    this.problem = problem
  }
}
