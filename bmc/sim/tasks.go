package sim

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
)

const tasksPath = rootPath + "/TaskService/Tasks"

// mostTasks bounds what the BMC remembers of tasks that have ended.
const mostTasks = 32

// tasks are the BMC's long operations.
type tasks struct {
	mu   sync.Mutex
	last int
	list []task
}

type task struct {
	id     string
	done   bool
	failed string // why, of one that failed
}

func (t *tasks) begin() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	if len(t.list) >= mostTasks {
		t.list = append([]task(nil), t.list[1:]...)
	}
	id := fmt.Sprint(t.last)
	t.list = append(t.list, task{id: id})
	return id
}

func (t *tasks) end(id string) { t.fail(id, "") }

// fail ends a task that failed.
func (t *tasks) fail(id, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.list {
		if t.list[i].id == id {
			t.list[i].done, t.list[i].failed = true, why
		}
	}
}

func (t *tasks) all() []task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}

func (s *Server) taskDocument(id string) map[string]any {
	for _, t := range s.tasks.all() {
		if t.id != id {
			continue
		}
		doc := resource("Task.v1_7_4.Task", tasksPath+"/"+id, map[string]any{
			"Id": id, "Name": "Task " + id, "TaskState": "Running", "TaskStatus": "OK", "PercentComplete": 50, "TaskMonitor": tasksPath + "/" + id + "/Monitor",
		})
		if t.done {
			doc["TaskState"], doc["PercentComplete"] = "Completed", 100
		}
		if t.failed != "" {
			doc["TaskState"], doc["TaskStatus"] = "Exception", "Critical"
			doc["Messages"] = []map[string]any{{"Message": t.failed, "Severity": "Critical"}}
		}
		return doc
	}
	return nil
}

func (s *Server) taskServiceDocument(rest []string) map[string]any {
	if len(rest) == 0 {
		return resource("TaskService.v1_2_1.TaskService", rootPath+"/TaskService", map[string]any{"Name": "Tasks", "ServiceEnabled": true, "Tasks": ref(tasksPath)})
	}
	if rest[0] != "Tasks" {
		return nil
	}
	var docs []map[string]any
	for _, t := range s.tasks.all() {
		if doc := s.taskDocument(t.id); doc != nil {
			docs = append(docs, doc)
		}
	}
	return pick("TaskCollection", tasksPath, docs, rest[1:])
}

// monitorTask answers 202 while a task runs, and as the command would have been answered when it has ended.
func (s *Server) monitorTask(w http.ResponseWriter, r *http.Request) {
	doc := s.taskDocument(r.PathValue("id"))
	switch {
	case doc == nil:
		refuseMissing(w, r)
	case doc["TaskState"] == "Running":
		w.Header().Set("Location", doc["TaskMonitor"].(string))
		w.Header().Set("Retry-After", "1")
		answerJSON(w, http.StatusAccepted, doc)
	case doc["TaskState"] == "Exception":
		refuse(w, http.StatusBadRequest, "OperationFailed", doc["Messages"].([]map[string]any)[0]["Message"].(string))
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
