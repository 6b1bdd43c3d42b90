"""Addresses of the configuration endpoints."""

from django.urls import path

from config_admin.api.draft_views import (
    ApproveDraftView,
    CommentDraftView,
    DraftsView,
    DraftView,
    PublishDraftView,
    ReturnDraftView,
    ScheduleDraftView,
    SendDraftView,
)
from config_admin.api.flow_views import FlowsView, FlowView
from config_admin.api.gradual_views import GiveToAllView, GradualReleaseView, StopGradualReleaseView
from config_admin.api.restore_views import ReleasesView, RestoreReleaseView, UndoReleaseView
from config_admin.api.test_case_views import TestCasesView, TestRunsView, TestRunView
from config_admin.api.topic_views import (
    DuplicateTopicView,
    ExportTopicView,
    RenameTopicView,
    SwitchTopicView,
    TopicsView,
    TopicView,
)
from config_admin.api.transfer_views import BundleView, ImportView
from config_admin.api.views import HealthView, RowsView, TablesView

urlpatterns = [
    path("config", TablesView.as_view(), name="config-tables"),
    path("config-health", HealthView.as_view(), name="config-health"),
    path("config/bundle", BundleView.as_view(), name="config-bundle"),
    path("config/import", ImportView.as_view(), name="config-import"),
    path("config/releases", ReleasesView.as_view(), name="config-releases"),
    path("config/releases/<int:config_version>/restore", RestoreReleaseView.as_view(), name="config-release-restore"),
    path("config/releases/<int:config_version>/undo", UndoReleaseView.as_view(), name="config-release-undo"),
    path("config/gradual", GradualReleaseView.as_view(), name="config-gradual"),
    path("config/gradual/stop", StopGradualReleaseView.as_view(), name="config-gradual-stop"),
    path("config/gradual/all", GiveToAllView.as_view(), name="config-gradual-all"),
    path("config/drafts", DraftsView.as_view(), name="config-drafts"),
    path("config/drafts/<int:draft_id>", DraftView.as_view(), name="config-draft"),
    path("config/drafts/<int:draft_id>/send", SendDraftView.as_view(), name="config-draft-send"),
    path("config/drafts/<int:draft_id>/comment", CommentDraftView.as_view(), name="config-draft-comment"),
    path("config/drafts/<int:draft_id>/approve", ApproveDraftView.as_view(), name="config-draft-approve"),
    path("config/drafts/<int:draft_id>/return", ReturnDraftView.as_view(), name="config-draft-return"),
    path("config/drafts/<int:draft_id>/publish", PublishDraftView.as_view(), name="config-draft-publish"),
    path("config/drafts/<int:draft_id>/schedule", ScheduleDraftView.as_view(), name="config-draft-schedule"),
    path("config/tests", TestCasesView.as_view(), name="config-tests"),
    path("config/test-runs", TestRunsView.as_view(), name="config-test-runs"),
    path("config/test-runs/<int:run_id>", TestRunView.as_view(), name="config-test-run"),
    path("config/flows", FlowsView.as_view(), name="config-flows"),
    path("config/flows/<str:flow_code>", FlowView.as_view(), name="config-flow"),
    path("config/topics", TopicsView.as_view(), name="config-topics"),
    path("config/topics/<str:topic_code>", TopicView.as_view(), name="config-topic"),
    path("config/topics/<str:topic_code>/rename", RenameTopicView.as_view(), name="config-topic-rename"),
    path("config/topics/<str:topic_code>/duplicate", DuplicateTopicView.as_view(), name="config-topic-duplicate"),
    path("config/topics/<str:topic_code>/switch", SwitchTopicView.as_view(), name="config-topic-switch"),
    path("config/topics/<str:topic_code>/export", ExportTopicView.as_view(), name="config-topic-export"),
    path("config/<str:table>", RowsView.as_view(), name="config-rows"),
]
