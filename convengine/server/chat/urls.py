"""Addresses of the chat, which pages of other servers name."""

from django.urls import path

from convengine.server.chat import views

urlpatterns = [
    path("chat.js", views.show_script, name="chat-script"),
    path("chat-<slug:version>.js", views.show_script_version, name="chat-script-version"),
    path("chat/", views.show_chat, name="chat"),
]
