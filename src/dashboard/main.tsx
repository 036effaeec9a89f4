import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { lazy, StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { Link, Route, Router, Switch, useLocation } from 'wouter'
import { ApiError } from './api/api-error.ts'
import { Bones, Empty } from './parts/messages.tsx'
import { PageFault, PageHead } from './parts/page.tsx'
import { Shell } from './shell/shell.tsx'
import { applyTheme } from './state/settings.ts'
import './style/all.css'

const Overview = lazy(() => import('./pages/overview/overview-page.tsx'))
const Runs = lazy(() => import('./pages/runs/runs-page.tsx'))
const Run = lazy(() => import('./pages/run/run-page.tsx'))
const Failures = lazy(() => import('./pages/runs/failures-page.tsx'))
const Events = lazy(() => import('./pages/events/events-page.tsx'))
const Event = lazy(() => import('./pages/events/event-page.tsx'))
const Trace = lazy(() => import('./pages/events/trace-page.tsx'))
const Subject = lazy(() => import('./pages/events/subject-page.tsx'))
const Deliveries = lazy(() => import('./pages/deliveries/deliveries-page.tsx'))
const Endpoints = lazy(() => import('./pages/endpoints/endpoints-page.tsx'))
const Endpoint = lazy(() => import('./pages/endpoints/endpoint-page.tsx'))
const Workflows = lazy(() => import('./pages/workflows/workflows-page.tsx'))
const Workflow = lazy(() => import('./pages/workflows/workflow-page.tsx'))
const Schedules = lazy(() => import('./pages/workflows/schedules-page.tsx'))
const Approvals = lazy(() => import('./pages/safety/approvals-page.tsx'))
const Approval = lazy(() => import('./pages/safety/approval-page.tsx'))
const Effects = lazy(() => import('./pages/safety/effects-page.tsx'))
const Files = lazy(() => import('./pages/files/files-page.tsx'))
const System = lazy(() => import('./pages/system/system-page.tsx'))

const client = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => error instanceof ApiError && error.problem.status === 0 && count < 2,
      refetchOnWindowFocus: false,
      staleTime: 1_000,
      // The app may be on this machine, which the browser calls offline without its Wi-Fi.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})

const base = new URL(document.baseURI).pathname.replace(/\/$/, '')

function Pages() {
  const [location] = useLocation()
  return (
    <PageFault key={location}>
      <Suspense fallback={<Bones />}>
        <Switch>
          <Route path="/" component={Overview} />
          <Route path="/login" component={Overview} />
          <Route path="/runs" component={Runs} />
          <Route path="/runs/:id">{({ id }) => <Run id={id} />}</Route>
          <Route path="/failures" component={Failures} />
          <Route path="/events" component={Events} />
          <Route path="/events/:id">{({ id }) => <Event id={id} />}</Route>
          <Route path="/events/:id/trace">{({ id }) => <Trace id={id} />}</Route>
          <Route path="/history" component={Subject} />
          <Route path="/deliveries" component={Deliveries} />
          <Route path="/endpoints" component={Endpoints} />
          <Route path="/endpoints/:name">{({ name }) => <Endpoint name={name} />}</Route>
          <Route path="/workflows" component={Workflows} />
          <Route path="/workflows/:id">{({ id }) => <Workflow id={id} />}</Route>
          <Route path="/schedules" component={Schedules} />
          <Route path="/approvals" component={Approvals} />
          <Route path="/approvals/:id">{({ id }) => <Approval id={id} />}</Route>
          <Route path="/effects" component={Effects} />
          <Route path="/files" component={Files} />
          <Route path="/system" component={System} />
          <Route>
            <div className="stack">
              <PageHead title="Not found" isStill />
              <Empty title="There is no such page.">
                <Link href="/">Go to the overview</Link>
              </Empty>
            </div>
          </Route>
        </Switch>
      </Suspense>
    </PageFault>
  )
}

applyTheme()
const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <Router base={base}>
          <Shell>
            <Pages />
          </Shell>
        </Router>
      </QueryClientProvider>
    </StrictMode>,
  )
}
